//go:build linux && cgo

package nvml

import (
	"strings"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// symbols are driver functions this package calls, with the other spellings under
// which go-nvml would call them by itself; readingSymbols and processSymbols are the others.
var symbols = map[string][]string{
	"nvmlInit":                                  {"nvmlInit_v2"},
	"nvmlShutdown":                              nil,
	"nvmlSystemGetDriverVersion":                nil,
	"nvmlDeviceGetCount":                        {"nvmlDeviceGetCount_v2"},
	"nvmlDeviceGetHandleByIndex":                {"nvmlDeviceGetHandleByIndex_v2"},
	"nvmlDeviceGetName":                         nil,
	"nvmlDeviceGetUUID":                         nil,
	"nvmlDeviceGetUtilizationRates":             nil,
	"nvmlDeviceGetMemoryInfo":                   nil,
	"nvmlDeviceGetMemoryInfo_v2":                nil,
	"nvmlDeviceGetPowerUsage":                   nil,
	"nvmlDeviceGetEnforcedPowerLimit":           nil,
	"nvmlDeviceGetPowerManagementDefaultLimit":  nil,
	"nvmlDeviceGetClockInfo":                    nil,
	"nvmlDeviceGetMaxClockInfo":                 nil,
	"nvmlDeviceGetTemperature":                  nil,
	"nvmlDeviceGetCurrentClocksEventReasons":    nil,
	"nvmlDeviceGetCurrentClocksThrottleReasons": nil,
	"nvmlGpmQueryDeviceSupport":                 nil,
	"nvmlGpmSampleAlloc":                        nil,
	"nvmlGpmSampleFree":                         nil,
	"nvmlGpmSampleGet":                          nil,
	"nvmlGpmMetricsGet":                         nil,
	"nvmlEventSetCreate":                        nil,
	"nvmlEventSetFree":                          nil,
	"nvmlEventSetWait":                          {"nvmlEventSetWait_v2"},
	"nvmlDeviceRegisterEvents":                  nil,
}

// guard knows which of the symbols the loaded library has. NVML's functions are
// bound when first called, and calling one that is not there ends the process with
// "symbol lookup error": no error, no panic, the terminal left as it was.
type guard struct {
	has     map[string]bool
	gpu     int      // whom the calls are about, by index; host: none of them
	tallies *tallies // of all calls
}

// host is the index that stands for no device.
const host = -1

func newGuard(lookup func(string) error) guard {
	g := guard{has: map[string]bool{}, gpu: host, tallies: newTallies(time.Now)}
	for _, table := range []map[string][]string{symbols, readingSymbols, processSymbols} {
		for name, others := range table {
			for _, spelling := range append([]string{name}, others...) {
				g.has[name] = g.has[name] || lookup(spelling) == nil
			}
		}
	}
	return g
}

// of is the guard of calls about one device.
func (g guard) of(gpu int) guard { g.gpu = gpu; return g }

// call makes one driver call if the driver has it, and notes how it answered. Some of
// go-nvml's wrappers can panic on what a driver answers; that is an unknown error.
func (g guard) call(symbol string, f func() nvml.Return) (ret nvml.Return) {
	if !g.has[symbol] {
		g.tallies.refuse(symbol, g.gpu)
		return nvml.ERROR_FUNCTION_NOT_FOUND
	}
	t, began := g.tallies.begin(symbol, g.gpu)
	defer func() {
		told := ret
		if recover() != nil {
			ret, told = nvml.ERROR_UNKNOWN, panicked
		}
		g.tallies.end(t, began, told)
	}()
	return f()
}

func hasNoSuchFile(loaderText, path string) bool {
	return strings.Contains(loaderText, path) && strings.Contains(loaderText, "No such file")
}
