//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"os"
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
	return newProbe(newLibrary(path, time.Now), time.Now)
}

// maxDevices bounds what a broken driver can make us believe.
const maxDevices = 64

// nvmlLibrary is the real NVML, or whatever has its name.
type nvmlLibrary struct {
	path string
	api  nvml.Interface
	now  func() time.Time
}

func newLibrary(path string, now func() time.Time) *nvmlLibrary {
	return &nvmlLibrary{path: path, api: nvml.New(nvml.WithLibraryPath(path)), now: now}
}

func (l *nvmlLibrary) open() (system, error) {
	if err := preflight(l.path); err != nil {
		return system{}, err
	}
	if ret := l.api.Init(); ret != nvml.SUCCESS {
		return system{}, errors.New(inWords(ret))
	}
	g := newGuard(l.api.Extensions().LookupSymbol)
	sys := system{driver: driverVersion(l.api, g)}
	var n int
	ret := g.call("nvmlDeviceGetCount", func() (ret nvml.Return) { n, ret = l.api.DeviceGetCount(); return })
	if ret != nvml.SUCCESS {
		l.close()
		return sys, fmt.Errorf("counting GPUs: %s", inWords(ret))
	}
	for i := range min(n, maxDevices) {
		sys.devices = append(sys.devices, &nvmlDevice{api: l.api, guard: g, index: i, gpm: gpm{now: l.now}})
	}
	return sys, nil
}

func (l *nvmlLibrary) close() { l.api.Shutdown() } // that it fails changes nothing for anybody

func driverVersion(api nvml.Interface, g guard) (version string) {
	g.call("nvmlSystemGetDriverVersion", func() (ret nvml.Return) { version, ret = api.SystemGetDriverVersion(); return })
	return probes.Printable(version, 80)
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
