//go:build linux && cgo

package nvml

// processSymbols are the driver functions that tell of the processes on a device.
var processSymbols = map[string][]string{}
