package dcgm

import (
	"strings"

	"llmtop/probes"
)

// energy is the field that never stands still, margin the one that may be below 0.
const (
	energy = "DEV_TOTAL_ENERGY_CONSUMPTION"
	margin = "DEV_GPU_TEMP_LIMIT DEV_GPU_TEMP_MARGIN_CELSIUS"
)

// Units of fields, as factors to base units.
const (
	percent = 0.01
	mebi    = 1 << 20
	mega    = 1e6
	milli   = 1e-3
	nano    = 1e-9
)

// field is one of DCGM's and the reading that it is.
type field struct {
	names string // without the prefix; the second is the one that DCGM 4.6 gave
	unit  float64
	of    func(*probes.GPUDevice) *probes.Opt[float64]
}

// fields are those that stand for a reading alone. All utilisations are percentages, also
// where the name says ratio (the alias of 4.6 did not change the value); those of the
// profiling fields are ratios. Violations and clock events are in nanoseconds, whatever
// the help of older exporters says, and PCIe and NVLink bytes are rates although their
// exporter calls them counters.
var fields = [...]field{
	{"DEV_GPU_UTIL DEV_GPU_UTIL_RATIO", percent, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.KernelActiveRatio }},
	{"DEV_MEM_COPY_UTIL", percent, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.MemoryActiveRatio }},
	{"PROF_GR_ENGINE_ACTIVE PROF_GR_ENGINE_UTIL_RATIO", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.GraphicsActiveRatio }},
	{"PROF_SM_ACTIVE PROF_SM_UTIL_RATIO", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.SMActiveRatio }},
	{"PROF_SM_OCCUPANCY PROF_SM_OCCUPANCY_RATIO", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.SMOccupancyRatio }},
	{"PROF_PIPE_TENSOR_ACTIVE PROF_TENSOR_UTIL_RATIO", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.TensorActiveRatio }},
	{"PROF_DRAM_ACTIVE PROF_DRAM_UTIL_RATIO", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.DRAMActiveRatio }},
	{"PROF_PCIE_TX_BYTES", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeTxBytesPerS }},
	{"PROF_PCIE_RX_BYTES", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeRxBytesPerS }},
	{"PROF_NVLINK_TX_BYTES", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.NVLinkTxBytesPerS }},
	{"PROF_NVLINK_RX_BYTES", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.NVLinkRxBytesPerS }},
	{"DEV_FB_USED", mebi, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.MemoryUsedBytes }},
	{"DEV_FB_TOTAL", mebi, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.MemoryTotalBytes }},
	{"DEV_FB_RESERVED", mebi, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.MemoryReservedBytes }},
	{"DEV_POWER_USAGE DEV_BOARD_POWER_WATTS", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PowerWatts }},
	{"DEV_ENFORCED_POWER_LIMIT DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PowerLimitWatts }},
	{"DEV_POWER_MGMT_LIMIT_DEF DEV_BOARD_POWER_LIMIT_DEFAULT_WATTS", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PowerDefaultWatts }},
	{energy, milli, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.EnergyJoulesTotal }},
	{"DEV_SM_CLOCK", mega, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.SMClockHertz }},
	{"DEV_MAX_SM_CLOCK", mega, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.SMClockMaxHertz }},
	{"DEV_MEM_CLOCK", mega, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.MemoryClockHertz }},
	{"DEV_MAX_MEM_CLOCK", mega, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.MemoryClockMaxHz }},
	{"DEV_PSTATE DEV_GPU_PSTATE", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PerformanceState }},
	{"DEV_GPU_TEMP DEV_GPU_TEMP_CELSIUS", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.TemperatureCelsius }},
	{"DEV_MEMORY_TEMP DEV_MEMORY_TEMP_CELSIUS", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.MemoryTemperatureCelsius }},
	{margin, 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.TemperatureMarginCelsius }},
	{"DEV_SLOWDOWN_TEMP DEV_GPU_TEMP_SLOWDOWN_CELSIUS", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.TemperatureSlowdownCelsius }},
	{"DEV_POWER_VIOLATION DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS", nano, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottlePowerSecondsTotal }},
	{"DEV_THERMAL_VIOLATION", nano, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottleThermalSecondsTotal }},
	{"DEV_SYNC_BOOST_VIOLATION DEV_CLOCKS_EVENT_REASON_SYNC_BOOST_NS", nano, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottleSyncSecondsTotal }},
	{"DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS", nano, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottleSWThermalSecondsTotal }},
	{"DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS", nano, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottleHWThermalSecondsTotal }},
	{"DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS", nano, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ThrottleBrakeSecondsTotal }},
	{"DEV_ECC_SBE_VOL_TOTAL", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ECCCorrectedTotal }},
	{"DEV_ECC_DBE_VOL_TOTAL", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.ECCUncorrectedTotal }},
	{"DEV_CORRECTABLE_REMAPPED_ROWS DEV_ROW_REMAP_CORRECTABLE_TOTAL", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.RowsRemappedCorrected }},
	{"DEV_UNCORRECTABLE_REMAPPED_ROWS DEV_ROW_REMAP_UNCORRECTABLE_TOTAL", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.RowsRemappedUncorrected }},
	{"DEV_ROW_REMAP_PENDING DEV_RETIRED_PENDING DEV_PAGE_RETIRED_PENDING", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.RemapPending }},
	{"DEV_ROW_REMAP_FAILURE DEV_ROW_REMAP_FAILED", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.RemapFailed }},
	{"DEV_PCIE_LINK_GEN", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeGeneration }},
	{"DEV_PCIE_MAX_LINK_GEN", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeGenerationMax }},
	{"DEV_PCIE_LINK_WIDTH", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeWidth }},
	{"DEV_PCIE_MAX_LINK_WIDTH", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeWidthMax }},
	{"DEV_PCIE_REPLAY_COUNTER DEV_PCIE_REPLAY_TOTAL", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.PCIeReplaysTotal }},
	{"DEV_GET_GPU_RECOVERY_ACTION DEV_GPU_RECOVERY_ACTION", 1, func(d *probes.GPUDevice) *probes.Opt[float64] { return &d.RecoveryAction }},
}

// ofInstances reports a field that each MIG instance has for itself: what its own units do
// and its own memory. Everything else is told with each instance and is of the device.
func ofInstances(name string) bool {
	if strings.HasPrefix(name, "DEV_FB_") {
		return true
	}
	return strings.HasPrefix(name, "PROF_") && !strings.HasPrefix(name, "PROF_PCIE_") && !strings.HasPrefix(name, "PROF_NVLINK_")
}

// read fills in the readings of a device, or of an instance.
func (e *entity) read(d *probes.GPUDevice) {
	for _, r := range probes.GPUReadings {
		*r.Of(d) = probes.None[float64](probes.NotExposed)
	}
	for _, f := range fields {
		v := scaled(e.get(strings.Fields(f.names)...), f.unit)
		if f.unit == percent || strings.HasPrefix(f.names, "PROF_") && !strings.HasSuffix(f.names, "BYTES") {
			v = ratio(v)
		}
		if v.Or(0) < 0 && f.names != margin { // none of the others can be
			v = probes.None[float64](probes.NotSeen)
		}
		*f.of(d) = v
	}
	if v := e.get("DEV_POWER_USAGE_INSTANT", "DEV_BOARD_POWER_RAW_WATTS"); v.Seen() {
		d.PowerWatts = v
	}
	d.ThrottleBits = whole(e.get("DEV_CLOCK_THROTTLE_REASONS", "DEV_CLOCKS_EVENT_REASONS"))
	e.memory(d)
	e.links(d)
	e.doubtful(d)
}

// memory adds up what the page does not tell as one number. Without the reserved part, which
// older exporters do not tell, it is counted as used.
func (e *entity) memory(d *probes.GPUDevice) {
	free := scaled(e.get("DEV_FB_FREE"), mebi)
	if !d.MemoryTotalBytes.Seen() && d.MemoryUsedBytes.Seen() && free.Seen() {
		d.MemoryTotalBytes = sum(d.MemoryUsedBytes, free, d.MemoryReservedBytes)
	}
	if d.MemoryTotalBytes.Or(1) <= 0 { // boards that share the host's memory answer so
		d.MemoryTotalBytes, d.MemoryUsedBytes = probes.None[float64](probes.Unsupported), probes.None[float64](probes.Unsupported)
	}
}

// links adds up the errors of the NVLinks. The totals without a unit that everybody agrees
// on (NVLINK_BANDWIDTH_TOTAL and its like, 0 on some devices) are left alone.
func (e *entity) links(d *probes.GPUDevice) {
	d.NVLinkErrorsTotal = sum(
		e.get("DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "DEV_NVLINK_CRC_FLIT_ERROR_TOTAL"),
		e.get("DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "DEV_NVLINK_CRC_DATA_ERROR_TOTAL"),
		e.get("DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "DEV_NVLINK_REPLAY_ERROR_TOTAL"),
		e.get("DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "DEV_NVLINK_RECOVERY_ERROR_TOTAL"),
	)
}

// doubtful takes care of the zeros that say nothing, and of what only looks like a count.
func (e *entity) doubtful(d *probes.GPUDevice) {
	// The field keeps the last error's number for ever: it counts nothing, and 0 is none yet.
	d.XidTotal, d.LastXid = probes.None[uint64](probes.NotExposed), whole(e.get("DEV_XID_ERRORS", "DEV_XID_ERROR"))
	if d.LastXid.Seen() && d.LastXid.Or(0) == 0 {
		d.LastXid = probes.None[uint64](probes.NotSeen)
	}
	unsupported := probes.None[float64](probes.Unsupported)
	if v, ok := d.MemoryTemperatureCelsius.Get(); ok && v <= 0 { // no sensor
		d.MemoryTemperatureCelsius = unsupported
	}
	if d.PerformanceState.Or(0) > 15 { // unknown
		d.PerformanceState = unsupported
	}
	// Some devices (L40S) are told to move no byte over PCIe while they work.
	tx, sent := d.PCIeTxBytesPerS.Get()
	rx, received := d.PCIeRxBytesPerS.Get()
	works := d.KernelActiveRatio.Or(0) > 0 || d.GraphicsActiveRatio.Or(0) > 0
	if sent && received && tx == 0 && rx == 0 && (works || strings.Contains(d.Name, "L40")) {
		d.PCIeTxBytesPerS, d.PCIeRxBytesPerS = unsupported, unsupported
	}
	d.Virtual = virtual(e.get("DEV_VIRTUAL_MODE", "DEV_GPU_VIRTUAL_MODE"))
}

// virtual is the word for a virtualisation mode.
func virtual(mode probes.Opt[float64]) string {
	words := [...]string{"", "passthrough", "vgpu", "host-vgpu", "host-vsga"}
	if n, ok := whole(mode).Get(); ok && n < uint64(len(words)) {
		return words[n]
	}
	return ""
}
