package probes

import "time"

// GPU is what the driver tells of all devices. No device is a normal state:
// Devices is empty and Note says so ("no NVML device: …").
type GPU struct {
	At      time.Time   `json:"at"`
	Driver  string      `json:"driver,omitempty"`
	Note    string      `json:"note,omitempty"`
	Devices []GPUDevice `json:"devices,omitempty"`
}

// GPUDevice is one device. A device that no longer answers keeps its identity,
// its last At, and Err.
type GPUDevice struct {
	At                 time.Time    `json:"at"`
	Index              int          `json:"index"`
	UUID               string       `json:"uuid"`
	Name               string       `json:"name"`
	Err                string       `json:"err,omitempty"`
	KernelActiveRatio  Opt[float64] `json:"kernel_active_ratio,omitzero"` // time in which any kernel ran; not how much of the GPU it used
	MemoryActiveRatio  Opt[float64] `json:"memory_active_ratio,omitzero"` // time in which device memory was read or written; not bandwidth
	MemoryUsedBytes    Opt[float64] `json:"memory_used_bytes,omitzero"`
	MemoryTotalBytes   Opt[float64] `json:"memory_total_bytes,omitzero"`
	PowerWatts         Opt[float64] `json:"power_watts,omitzero"`
	PowerLimitWatts    Opt[float64] `json:"power_limit_watts,omitzero"` // enforced now
	PowerDefaultWatts  Opt[float64] `json:"power_default_watts,omitzero"`
	SMClockHertz       Opt[float64] `json:"sm_clock_hertz,omitzero"`
	SMClockMaxHertz    Opt[float64] `json:"sm_clock_max_hertz,omitzero"`
	MemoryClockHertz   Opt[float64] `json:"memory_clock_hertz,omitzero"`
	MemoryClockMaxHz   Opt[float64] `json:"memory_clock_max_hertz,omitzero"`
	TemperatureCelsius Opt[float64] `json:"temperature_celsius,omitzero"`
	ThrottleBits       Opt[uint64]  `json:"throttle_bits,omitzero"` // NVML clocks-event reasons
	XidTotal           Opt[uint64]  `json:"xid_total,omitzero"`     // critical errors the driver reported since llmtop began to listen
	LastXid            Opt[uint64]  `json:"last_xid,omitzero"`      // number of the last one
	SMActiveRatio      Opt[float64] `json:"sm_active_ratio,omitzero"`
	DRAMActiveRatio    Opt[float64] `json:"dram_active_ratio,omitzero"`
}

// NVML clocks-event reason bits (nvml.h, nvmlClocksEventReason*).
const (
	ThrottleIdle         uint64 = 0x1
	ThrottleAppClocks    uint64 = 0x2
	ThrottlePowerCap     uint64 = 0x4
	ThrottleHWSlowdown   uint64 = 0x8
	ThrottleSyncBoost    uint64 = 0x10
	ThrottleSWThermal    uint64 = 0x20
	ThrottleHWThermal    uint64 = 0x40
	ThrottlePowerBrake   uint64 = 0x80
	ThrottleDisplayClock uint64 = 0x100
)
