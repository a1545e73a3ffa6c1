//go:build linux && cgo

package nvml

// readingSymbols are the driver functions behind the readings of a device.
var readingSymbols = map[string][]string{}
