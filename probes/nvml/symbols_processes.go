//go:build linux && cgo

package nvml

// processSymbols are the driver functions that tell of the processes on a device.
var processSymbols = map[string][]string{
	"nvmlDeviceGetComputeRunningProcesses":    {"nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses_v3"},
	"nvmlDeviceGetGraphicsRunningProcesses":   {"nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses_v3"},
	"nvmlDeviceGetMPSComputeRunningProcesses": {"nvmlDeviceGetMPSComputeRunningProcesses_v2", "nvmlDeviceGetMPSComputeRunningProcesses_v3"},
	"nvmlDeviceGetProcessUtilization":         nil,
}
