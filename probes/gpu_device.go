package probes

import "time"

// GPUDevice is one device, or one MIG instance of one. A device that no longer answers
// keeps its identity, its last At, and Err. What a device cannot tell is missing with the
// reason, never 0.
type GPUDevice struct {
	At                 time.Time    `json:"at"`
	Index              int          `json:"index"` // of a MIG instance: its device's
	UUID               string       `json:"uuid"`
	Name               string       `json:"name"`
	Err                string       `json:"err,omitempty"`
	KernelActiveRatio  Opt[float64] `json:"kernel_active_ratio,omitzero"` // time in which any kernel ran; not how much of the GPU it used
	MemoryActiveRatio  Opt[float64] `json:"memory_active_ratio,omitzero"` // time in which device memory was read or written; not bandwidth
	MemoryUsedBytes    Opt[float64] `json:"memory_used_bytes,omitzero"`   // without what the driver keeps for itself
	MemoryTotalBytes   Opt[float64] `json:"memory_total_bytes,omitzero"`
	PowerWatts         Opt[float64] `json:"power_watts,omitzero"`         // now, or as near to it as the device tells
	PowerLimitWatts    Opt[float64] `json:"power_limit_watts,omitzero"`   // enforced now
	PowerDefaultWatts  Opt[float64] `json:"power_default_watts,omitzero"` // the limit it has by default
	SMClockHertz       Opt[float64] `json:"sm_clock_hertz,omitzero"`
	SMClockMaxHertz    Opt[float64] `json:"sm_clock_max_hertz,omitzero"`
	MemoryClockHertz   Opt[float64] `json:"memory_clock_hertz,omitzero"`
	MemoryClockMaxHz   Opt[float64] `json:"memory_clock_max_hertz,omitzero"`
	TemperatureCelsius Opt[float64] `json:"temperature_celsius,omitzero"`
	ThrottleBits       Opt[uint64]  `json:"throttle_bits,omitzero"`     // NVML clocks-event reasons
	XidTotal           Opt[uint64]  `json:"xid_total,omitzero"`         // critical errors that driver or kernel reported since llmtop began to listen
	LastXid            Opt[uint64]  `json:"last_xid,omitzero"`          // number of the last one that does not only follow from another (45, 154)
	SMActiveRatio      Opt[float64] `json:"sm_active_ratio,omitzero"`   // cycles in which an SM had a warp, mean of the SMs
	DRAMActiveRatio    Opt[float64] `json:"dram_active_ratio,omitzero"` // memory bandwidth in use over its peak

	Source       string    `json:"source,omitempty"`        // "nvml", "dcgm" (an exporter), "amdgpu" (sysfs)
	PCIAddress   string    `json:"pci_address,omitempty"`   // "0000:5e:00.0"
	Architecture string    `json:"architecture,omitempty"`  // "hopper", "ampere" …
	MIG          bool      `json:"mig,omitempty"`           // it is divided: its instances are devices of their own
	Asleep       bool      `json:"asleep,omitempty"`        // switched off by the kernel while nobody uses it; asking would wake it
	Instance     string    `json:"instance,omitempty"`      // profile of a MIG instance: "1g.18gb"
	Parent       string    `json:"parent,omitempty"`        // UUID of the device that a MIG instance is of
	Virtual      string    `json:"virtual,omitempty"`       // "passthrough", "vgpu", "host-vgpu", "host-vsga"; empty: bare metal
	CPUs         string    `json:"cpus,omitempty"`          // the host's, near to it: "0-31,64-95"
	ActivityFrom string    `json:"activity_from,omitempty"` // what measured SM, tensor and DRAM activity: "gpm", "dcgm"
	ActivityAt   time.Time `json:"activity_at,omitzero"`    // when it did, where that is not At; too long ago for now: those readings are stale

	InstanceID    Opt[uint64] `json:"instance_id,omitzero"`     // number of a MIG instance on its parent (its GPU instance), which all sources agree on
	PeriodSeconds float64     `json:"period_seconds,omitempty"` // how often the source renews its readings, where that is more rarely than a sample is made

	GraphicsActiveRatio           Opt[float64] `json:"graphics_active_ratio,omitzero"`      // time in which the compute or graphics engine was busy, of cycles
	SMOccupancyRatio              Opt[float64] `json:"sm_occupancy_ratio,omitzero"`         // warps on the SMs over the most there can be
	TensorActiveRatio             Opt[float64] `json:"tensor_active_ratio,omitzero"`        // cycles in which tensor cores worked
	PCIeTxBytesPerS               Opt[float64] `json:"pcie_tx_bytes_per_second,omitzero"`   // sent over PCIe, seen from the GPU
	PCIeRxBytesPerS               Opt[float64] `json:"pcie_rx_bytes_per_second,omitzero"`   // received over PCIe
	NVLinkTxBytesPerS             Opt[float64] `json:"nvlink_tx_bytes_per_second,omitzero"` // sent over all NVLinks
	NVLinkRxBytesPerS             Opt[float64] `json:"nvlink_rx_bytes_per_second,omitzero"` // received over all NVLinks
	MemoryReservedBytes           Opt[float64] `json:"memory_reserved_bytes,omitzero"`      // kept by driver and firmware
	PowerAverageWatts             Opt[float64] `json:"power_average_watts,omitzero"`        // over one second
	EnergyJoulesTotal             Opt[float64] `json:"energy_joules_total,omitzero"`        // since the driver was loaded
	PerformanceState              Opt[float64] `json:"performance_state,omitzero"`          // P-state: 0 the fastest, 15 the slowest
	MemoryTemperatureCelsius      Opt[float64] `json:"memory_temperature_celsius,omitzero"`
	TemperatureMarginCelsius      Opt[float64] `json:"temperature_margin_celsius,omitzero"`        // how much hotter it may get before it slows down
	TemperatureSlowdownCelsius    Opt[float64] `json:"temperature_slowdown_celsius,omitzero"`      // where it slows down
	ThrottlePowerSecondsTotal     Opt[float64] `json:"throttle_power_seconds_total,omitzero"`      // clocks held down by the power limit
	ThrottleThermalSecondsTotal   Opt[float64] `json:"throttle_thermal_seconds_total,omitzero"`    // clocks held down by heat, the driver's own count
	ThrottleSyncSecondsTotal      Opt[float64] `json:"throttle_sync_seconds_total,omitzero"`       // clocks held down to those of a sync-boost group
	ThrottleSWThermalSecondsTotal Opt[float64] `json:"throttle_sw_thermal_seconds_total,omitzero"` // slowed down by software for heat
	ThrottleHWThermalSecondsTotal Opt[float64] `json:"throttle_hw_thermal_seconds_total,omitzero"` // slowed down by hardware for heat
	ThrottleBrakeSecondsTotal     Opt[float64] `json:"throttle_brake_seconds_total,omitzero"`      // slowed down by the power brake, which a power supply pulls
	ECCCorrectedTotal             Opt[float64] `json:"ecc_corrected_total,omitzero"`               // memory errors set right since the driver was loaded
	ECCUncorrectedTotal           Opt[float64] `json:"ecc_uncorrected_total,omitzero"`             // memory errors that could not be
	RowsRemappedCorrected         Opt[float64] `json:"rows_remapped_corrected,omitzero"`           // memory rows replaced after errors set right
	RowsRemappedUncorrected       Opt[float64] `json:"rows_remapped_uncorrected,omitzero"`         // memory rows replaced after errors that could not be
	RemapPending                  Opt[float64] `json:"remap_pending,omitzero"`                     // a row waits for a reset to be replaced (or, before Ampere, a page to be retired)
	RemapFailed                   Opt[float64] `json:"remap_failed,omitzero"`                      // a row could not be replaced: the board is to be exchanged
	PCIeGeneration                Opt[float64] `json:"pcie_generation,omitzero"`                   // of the link now; idle devices lower it
	PCIeGenerationMax             Opt[float64] `json:"pcie_generation_max,omitzero"`               // the highest that device and slot can
	PCIeWidth                     Opt[float64] `json:"pcie_width,omitzero"`                        // lanes now
	PCIeWidthMax                  Opt[float64] `json:"pcie_width_max,omitzero"`                    // the most lanes that device and slot can
	PCIeReplaysTotal              Opt[float64] `json:"pcie_replays_total,omitzero"`                // packets sent again
	NVLinksActive                 Opt[float64] `json:"nvlinks_active,omitzero"`
	NVLinksTotal                  Opt[float64] `json:"nvlinks_total,omitzero"`       // links it has
	NVLinkErrorsTotal             Opt[float64] `json:"nvlink_errors_total,omitzero"` // replays, recoveries and CRC errors of all links
	RecoveryAction                Opt[float64] `json:"recovery_action,omitzero"`     // what the driver asks for, an index of RecoveryActions
	NUMANode                      Opt[float64] `json:"numa_node,omitzero"`           // of the host, nearest to it
}
