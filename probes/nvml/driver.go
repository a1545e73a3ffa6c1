//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// New returns a probe of this host's NVIDIA GPUs. A process should have one at a
// time: go-nvml binds the first library it loads for all of them.
func New(o Options) *Probe {
	path := o.LibraryPath
	if path == "" {
		path = "libnvidia-ml.so.1"
	}
	l := newLibrary(path, time.Now)
	if o.Root != "" {
		l.root = o.Root
	}
	return newProbe(l, time.Now)
}

// maxDevices bounds what a broken driver can make us believe.
const maxDevices = 64

// nvmlLibrary is the real NVML, or whatever has its name.
type nvmlLibrary struct {
	path string
	root string // of /sys
	api  nvml.Interface
	now  func() time.Time
}

func newLibrary(path string, now func() time.Time) *nvmlLibrary {
	return &nvmlLibrary{path: path, root: "/", api: nvml.New(nvml.WithLibraryPath(path)), now: now}
}

func (l *nvmlLibrary) open() (system, error) {
	if err := preflight(l.path); err != nil {
		return system{}, err
	}
	if ret := l.api.Init(); ret != nvml.SUCCESS {
		return system{}, errors.New(inWords(ret))
	}
	g := newGuard(l.api.Extensions().LookupSymbol)
	sys := system{driver: driverVersion(l.api, g), cuda: cudaVersion(l.api, g)}
	var n int
	ret := g.call("nvmlDeviceGetCount", func() (ret nvml.Return) { n, ret = l.api.DeviceGetCount(); return })
	if ret != nvml.SUCCESS {
		l.close()
		return sys, fmt.Errorf("counting GPUs: %s", inWords(ret))
	}
	t, major := newTopology(g), driverMajor(sys.driver)
	for i := range min(n, maxDevices) {
		sys.devices = append(sys.devices, &nvmlDevice{api: l.api, guard: g, now: l.now, index: i, root: l.root, driver: major, topology: t, gpm: gpm{now: l.now}})
	}
	sys.links = t.known
	return sys, nil
}

func (l *nvmlLibrary) close() { l.api.Shutdown() } // that it fails changes nothing for anybody

func driverVersion(api nvml.Interface, g guard) (version string) {
	g.call("nvmlSystemGetDriverVersion", func() (ret nvml.Return) { version, ret = api.SystemGetDriverVersion(); return })
	return probes.Printable(version, 80)
}

// driverMajor is the first number of a driver's version; 0 when there is none.
func driverMajor(version string) int {
	first, _, _ := strings.Cut(version, ".")
	major, err := strconv.Atoi(first)
	if err != nil || major < 0 {
		return 0
	}
	return major
}

// cudaVersion is the newest version of CUDA that the driver can run. The second form of
// the call is the exact one; it needs CUDA's own library, which a container may lack.
func cudaVersion(api nvml.Interface, g guard) string {
	var v int
	ret := g.call("nvmlSystemGetCudaDriverVersion_v2", func() (ret nvml.Return) { v, ret = api.SystemGetCudaDriverVersion_v2(); return })
	if ret != nvml.SUCCESS {
		ret = g.call("nvmlSystemGetCudaDriverVersion", func() (ret nvml.Return) { v, ret = api.SystemGetCudaDriverVersion(); return })
	}
	if ret != nvml.SUCCESS || v <= 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", v/1000, v%1000/10)
}

// preflight loads the library once by itself, for two things go-nvml does not
// give: why it cannot be loaded, and whether it has what starting it calls without
// looking.
func preflight(path string) error {
	lib := dl.New(path, dl.RTLD_LAZY|dl.RTLD_LOCAL)
	if err := lib.Open(); err != nil {
		return errors.New(whyNotLoaded(path, err))
	}
	defer lib.Close()
	g := newGuard(lib.Lookup)
	for _, needed := range []string{"nvmlInit", "nvmlShutdown"} {
		if !g[needed] {
			return fmt.Errorf("%s is not NVML: it has no %s", probes.Printable(path, 200), needed)
		}
	}
	return nil
}

func whyNotLoaded(path string, err error) string {
	text := probes.Printable(err.Error(), 300)
	if _, missing := os.Stat(path); missing == nil {
		return text // it is there, so the loader's words matter
	}
	if !hasNoSuchFile(text, path) {
		return text
	}
	return "the NVIDIA driver's library " + probes.Printable(path, 200) + " is not installed"
}
