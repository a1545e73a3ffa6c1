//go:build linux && cgo

package nvml

import (
	"strings"

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
type guard map[string]bool

func newGuard(lookup func(string) error) guard {
	g := guard{}
	for _, table := range []map[string][]string{symbols, readingSymbols, processSymbols} {
		for name, others := range table {
			for _, spelling := range append([]string{name}, others...) {
				g[name] = g[name] || lookup(spelling) == nil
			}
		}
	}
	return g
}

// call makes one driver call if the driver has it. Some of go-nvml's wrappers can
// panic on what a driver answers; that is an unknown error.
func (g guard) call(symbol string, f func() nvml.Return) (ret nvml.Return) {
	if !g[symbol] {
		return nvml.ERROR_FUNCTION_NOT_FOUND
	}
	defer func() {
		if recover() != nil {
			ret = nvml.ERROR_UNKNOWN
		}
	}()
	return f()
}

func hasNoSuchFile(loaderText, path string) bool {
	return strings.Contains(loaderText, path) && strings.Contains(loaderText, "No such file")
}
