package probes

// GPUReading is one reading of a device.
type GPUReading struct {
	Name string // as in a sample: "power_watts"
	Unit string // ratio, bytes, bytes/s, W, J, Hz, s, °C, count, bool
	Of   func(*GPUDevice) *Opt[float64]
}

// GPUReadings are all readings of a device that are numbers, in the order in which they are shown.
var GPUReadings = []GPUReading{
	{"kernel_active_ratio", "ratio", func(d *GPUDevice) *Opt[float64] { return &d.KernelActiveRatio }},
	{"memory_active_ratio", "ratio", func(d *GPUDevice) *Opt[float64] { return &d.MemoryActiveRatio }},
	{"graphics_active_ratio", "ratio", func(d *GPUDevice) *Opt[float64] { return &d.GraphicsActiveRatio }},
	{"sm_active_ratio", "ratio", func(d *GPUDevice) *Opt[float64] { return &d.SMActiveRatio }},
	{"sm_occupancy_ratio", "ratio", func(d *GPUDevice) *Opt[float64] { return &d.SMOccupancyRatio }},
	{"tensor_active_ratio", "ratio", func(d *GPUDevice) *Opt[float64] { return &d.TensorActiveRatio }},
	{"dram_active_ratio", "ratio", func(d *GPUDevice) *Opt[float64] { return &d.DRAMActiveRatio }},
	{"pcie_tx_bytes_per_second", "bytes/s", func(d *GPUDevice) *Opt[float64] { return &d.PCIeTxBytesPerS }},
	{"pcie_rx_bytes_per_second", "bytes/s", func(d *GPUDevice) *Opt[float64] { return &d.PCIeRxBytesPerS }},
	{"nvlink_tx_bytes_per_second", "bytes/s", func(d *GPUDevice) *Opt[float64] { return &d.NVLinkTxBytesPerS }},
	{"nvlink_rx_bytes_per_second", "bytes/s", func(d *GPUDevice) *Opt[float64] { return &d.NVLinkRxBytesPerS }},
	{"memory_used_bytes", "bytes", func(d *GPUDevice) *Opt[float64] { return &d.MemoryUsedBytes }},
	{"memory_total_bytes", "bytes", func(d *GPUDevice) *Opt[float64] { return &d.MemoryTotalBytes }},
	{"memory_reserved_bytes", "bytes", func(d *GPUDevice) *Opt[float64] { return &d.MemoryReservedBytes }},
	{"power_watts", "W", func(d *GPUDevice) *Opt[float64] { return &d.PowerWatts }},
	{"power_average_watts", "W", func(d *GPUDevice) *Opt[float64] { return &d.PowerAverageWatts }},
	{"power_limit_watts", "W", func(d *GPUDevice) *Opt[float64] { return &d.PowerLimitWatts }},
	{"power_default_watts", "W", func(d *GPUDevice) *Opt[float64] { return &d.PowerDefaultWatts }},
	{"energy_joules_total", "J", func(d *GPUDevice) *Opt[float64] { return &d.EnergyJoulesTotal }},
	{"sm_clock_hertz", "Hz", func(d *GPUDevice) *Opt[float64] { return &d.SMClockHertz }},
	{"sm_clock_max_hertz", "Hz", func(d *GPUDevice) *Opt[float64] { return &d.SMClockMaxHertz }},
	{"memory_clock_hertz", "Hz", func(d *GPUDevice) *Opt[float64] { return &d.MemoryClockHertz }},
	{"memory_clock_max_hertz", "Hz", func(d *GPUDevice) *Opt[float64] { return &d.MemoryClockMaxHz }},
	{"performance_state", "count", func(d *GPUDevice) *Opt[float64] { return &d.PerformanceState }},
	{"temperature_celsius", "°C", func(d *GPUDevice) *Opt[float64] { return &d.TemperatureCelsius }},
	{"memory_temperature_celsius", "°C", func(d *GPUDevice) *Opt[float64] { return &d.MemoryTemperatureCelsius }},
	{"temperature_margin_celsius", "°C", func(d *GPUDevice) *Opt[float64] { return &d.TemperatureMarginCelsius }},
	{"temperature_slowdown_celsius", "°C", func(d *GPUDevice) *Opt[float64] { return &d.TemperatureSlowdownCelsius }},
	{"throttle_power_seconds_total", "s", func(d *GPUDevice) *Opt[float64] { return &d.ThrottlePowerSecondsTotal }},
	{"throttle_thermal_seconds_total", "s", func(d *GPUDevice) *Opt[float64] { return &d.ThrottleThermalSecondsTotal }},
	{"throttle_sync_seconds_total", "s", func(d *GPUDevice) *Opt[float64] { return &d.ThrottleSyncSecondsTotal }},
	{"throttle_sw_thermal_seconds_total", "s", func(d *GPUDevice) *Opt[float64] { return &d.ThrottleSWThermalSecondsTotal }},
	{"throttle_hw_thermal_seconds_total", "s", func(d *GPUDevice) *Opt[float64] { return &d.ThrottleHWThermalSecondsTotal }},
	{"throttle_brake_seconds_total", "s", func(d *GPUDevice) *Opt[float64] { return &d.ThrottleBrakeSecondsTotal }},
	{"ecc_corrected_total", "count", func(d *GPUDevice) *Opt[float64] { return &d.ECCCorrectedTotal }},
	{"ecc_uncorrected_total", "count", func(d *GPUDevice) *Opt[float64] { return &d.ECCUncorrectedTotal }},
	{"rows_remapped_corrected", "count", func(d *GPUDevice) *Opt[float64] { return &d.RowsRemappedCorrected }},
	{"rows_remapped_uncorrected", "count", func(d *GPUDevice) *Opt[float64] { return &d.RowsRemappedUncorrected }},
	{"remap_pending", "bool", func(d *GPUDevice) *Opt[float64] { return &d.RemapPending }},
	{"remap_failed", "bool", func(d *GPUDevice) *Opt[float64] { return &d.RemapFailed }},
	{"pcie_generation", "count", func(d *GPUDevice) *Opt[float64] { return &d.PCIeGeneration }},
	{"pcie_generation_max", "count", func(d *GPUDevice) *Opt[float64] { return &d.PCIeGenerationMax }},
	{"pcie_width", "count", func(d *GPUDevice) *Opt[float64] { return &d.PCIeWidth }},
	{"pcie_width_max", "count", func(d *GPUDevice) *Opt[float64] { return &d.PCIeWidthMax }},
	{"pcie_replays_total", "count", func(d *GPUDevice) *Opt[float64] { return &d.PCIeReplaysTotal }},
	{"nvlinks_active", "count", func(d *GPUDevice) *Opt[float64] { return &d.NVLinksActive }},
	{"nvlinks_total", "count", func(d *GPUDevice) *Opt[float64] { return &d.NVLinksTotal }},
	{"nvlink_errors_total", "count", func(d *GPUDevice) *Opt[float64] { return &d.NVLinkErrorsTotal }},
	{"recovery_action", "count", func(d *GPUDevice) *Opt[float64] { return &d.RecoveryAction }},
	{"numa_node", "count", func(d *GPUDevice) *Opt[float64] { return &d.NUMANode }},
}

// WithoutReadings is a device of which only its identity, and the errors it had, are known, and why.
func (d GPUDevice) WithoutReadings(why Absence) GPUDevice {
	for _, r := range GPUReadings {
		*r.Of(&d) = None[float64](why)
	}
	d.ThrottleBits = None[uint64](why)
	return d
}
