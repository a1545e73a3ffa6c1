package probes

import "time"

// GPU is what is known of all devices. No device is a normal state: Devices is empty
// and Note says so ("no NVML device: …").
type GPU struct {
	At          time.Time    `json:"at"`
	Driver      string       `json:"driver,omitempty"`
	CUDA        string       `json:"cuda,omitempty"` // newest version the driver can run: "12.9"
	Note        string       `json:"note,omitempty"` // why NVIDIA's driver tells of none, also where somebody else does
	Devices     []GPUDevice  `json:"devices,omitempty"`
	ProcessesAt time.Time    `json:"processes_at,omitzero"` // when Processes was read: dear, so more rarely than the rest
	Processes   []GPUProcess `json:"processes,omitempty"`
	Links       []GPULink    `json:"links,omitempty"`      // between each two devices, by their indexes
	KernelLog   string       `json:"kernel_log,omitempty"` // why it is not read for Xids; empty: it is, or there is no device
}

// GPUProcess is a process that holds memory of a device, by its number on this host.
type GPUProcess struct {
	GPU               string       `json:"gpu"` // UUID of the device or MIG instance
	PID               int          `json:"pid"`
	Name              string       `json:"name,omitempty"`
	MemoryBytes       Opt[float64] `json:"memory_bytes,omitzero"`
	KernelActiveRatio Opt[float64] `json:"kernel_active_ratio,omitzero"` // time in which a kernel of it ran
	MemoryActiveRatio Opt[float64] `json:"memory_active_ratio,omitzero"` // time in which it read or wrote device memory
}

// GPULink is the nearest way from one device to another: "NV18" (NVLinks, how many), "PIX" (one PCIe
// switch), "PXB" (several), "PHB" (a host bridge), "NODE" (a NUMA node), "SYS" (between NUMA nodes).
type GPULink struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Kind string `json:"kind"`
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

// Recovery actions the driver asks for (nvml.h, nvmlDeviceGpuRecoveryAction), by number.
var RecoveryActions = [...]string{"none", "reset the GPU", "reboot the node", "drain peer-to-peer", "drain and reset",
	"recover the IMEX domain", "reset the PCIe bus", "reboot the system"}
