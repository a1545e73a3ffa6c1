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
	root := o.Root
	if root == "" {
		root = "/"
	}
	l := newLibrary(path, time.Now)
	l.root = root
	p := newProbe(l, time.Now)
	p.root = root
	return p
}

// nvmlLibrary is the real NVML, or whatever has its name.
type nvmlLibrary struct {
	path    string
	root    string // of /proc and /sys
	api     nvml.Interface
	now     func() time.Time
	guard   guard    // of what is loaded
	tallies *tallies // of all calls, over new starts
}

func newLibrary(path string, now func() time.Time) *nvmlLibrary {
	return &nvmlLibrary{path: path, api: nvml.New(nvml.WithLibraryPath(path)), now: now, tallies: newTallies(time.Now)}
}

func (l *nvmlLibrary) open() (system, error) {
	g, err := preflight(l.path)
	if err != nil {
		return system{}, err
	}
	g.tallies = l.tallies
	if ret := g.call("nvmlInit", l.api.Init); ret != nvml.SUCCESS {
		return system{}, errors.New(inWords(ret))
	}
	g = newGuard(l.api.Extensions().LookupSymbol) // go-nvml may have loaded another one before
	g.tallies = l.tallies
	l.guard = g
	sys := system{driver: driverVersion(l.api, g), cuda: cudaVersion(l.api, g)}
	var n int
	ret := g.call("nvmlDeviceGetCount", func() (ret nvml.Return) { n, ret = l.api.DeviceGetCount(); return })
	if ret != nvml.SUCCESS {
		l.close()
		return sys, fmt.Errorf("counting GPUs: %s", inWords(ret))
	}
	n = min(n, maxDevices)
	t, major := newTopology(g), driverMajor(sys.driver)
	for i := range n {
		sys.devices = append(sys.devices, &nvmlDevice{
			api: l.api, guard: g.of(i), now: l.now, index: i, root: l.root, driver: major, topology: t,
			gpm: gpm{now: l.now}, users: users{root: l.root, now: l.now},
		})
	}
	sys.links = t.known
	sys.errors = newEvents(l.api, g, n)
	return sys, nil
}

func (l *nvmlLibrary) close() { l.guard.call("nvmlShutdown", l.api.Shutdown) } // that it fails changes nothing for anybody

func (l *nvmlLibrary) calls() []Call { return l.tallies.list() }

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

// preflight loads the library once by itself, for what go-nvml does not give: why it
// cannot be loaded, whether it has what starting it calls without looking, and whether it
// is a driver's at all.
func preflight(path string) (guard, error) {
	lib := dl.New(path, dl.RTLD_LAZY|dl.RTLD_LOCAL)
	if err := lib.Open(); err != nil {
		return guard{}, errors.New(whyNotLoaded(path, err))
	}
	defer lib.Close()
	g := newGuard(lib.Lookup)
	for _, needed := range []string{"nvmlInit", "nvmlShutdown"} {
		if !g.has[needed] {
			return g, fmt.Errorf("%s is not NVML: it has no %s", probes.Printable(path, 200), needed)
		}
	}
	if file := loadedFrom(path); isStub(file) {
		return g, fmt.Errorf("%s is CUDA's stub to build programs with, not the driver's library: take its folder out of LD_LIBRARY_PATH", probes.Printable(file, 200))
	}
	return g, nil
}

func whyNotLoaded(path string, err error) string {
	text := probes.Printable(fmt.Sprint(err), 300)
	if _, missing := os.Stat(path); missing == nil {
		return text // it is there, so the loader's words matter
	}
	if !hasNoSuchFile(text, path) {
		return text
	}
	return "the NVIDIA driver's library " + probes.Printable(path, 200) + " is not installed"
}
