//go:build linux && cgo

package nvml

// readingSymbols are the driver functions behind the readings of a device.
var readingSymbols = map[string][]string{
	"nvmlSystemGetCudaDriverVersion":         nil,
	"nvmlSystemGetCudaDriverVersion_v2":      nil,
	"nvmlDeviceGetPciInfo":                   {"nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo_v3"},
	"nvmlDeviceGetArchitecture":              nil,
	"nvmlDeviceGetVirtualizationMode":        nil,
	"nvmlDeviceGetCpuAffinity":               nil,
	"nvmlDeviceGetMemoryAffinity":            nil,
	"nvmlDeviceGetTopologyCommonAncestor":    nil,
	"nvmlDeviceGetFieldValues":               nil,
	"nvmlDeviceGetTotalEnergyConsumption":    nil,
	"nvmlDeviceGetPerformanceState":          nil,
	"nvmlDeviceGetTemperatureV":              nil,
	"nvmlDeviceGetTemperatureThreshold":      nil,
	"nvmlDeviceGetMarginTemperature":         nil,
	"nvmlDeviceGetTotalEccErrors":            nil,
	"nvmlDeviceGetRemappedRows":              nil,
	"nvmlDeviceGetRetiredPagesPendingStatus": nil,
	"nvmlDeviceGetCurrPcieLinkGeneration":    nil,
	"nvmlDeviceGetMaxPcieLinkGeneration":     nil,
	"nvmlDeviceGetCurrPcieLinkWidth":         nil,
	"nvmlDeviceGetMaxPcieLinkWidth":          nil,
	"nvmlDeviceGetPcieReplayCounter":         nil,
	"nvmlDeviceGetNvLinkState":               nil,
	"nvmlDeviceGetNvLinkRemoteDeviceType":    nil,
	"nvmlDeviceGetNvLinkRemotePciInfo":       {"nvmlDeviceGetNvLinkRemotePciInfo_v2"},
	"nvmlDeviceGetMigMode":                   nil,
	"nvmlDeviceGetMaxMigDeviceCount":         nil,
	"nvmlDeviceGetMigDeviceHandleByIndex":    nil,
	"nvmlDeviceGetGpuInstanceId":             nil,
	"nvmlDeviceGetAttributes":                {"nvmlDeviceGetAttributes_v2"},
	"nvmlGpmMigSampleGet":                    nil,
}
