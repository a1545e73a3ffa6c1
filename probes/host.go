package probes

import "time"

// Host is the machine as a whole. Counters are cumulative since boot; those of the
// network are of the namespace that llmtop runs in.
type Host struct {
	At                   time.Time    `json:"at"`
	CPUs                 int          `json:"cpus"`
	CPUBusySecondsTotal  Opt[float64] `json:"cpu_busy_seconds_total,omitzero"` // all cores, all but idle and iowait: steal is in it
	CPUStealSecondsTotal Opt[float64] `json:"cpu_steal_seconds_total,omitzero"`
	CPUWaitSecondsTotal  Opt[float64] `json:"cpu_iowait_seconds_total,omitzero"`
	Load1                Opt[float64] `json:"load1,omitzero"`
	MemoryTotalBytes     Opt[float64] `json:"memory_total_bytes,omitzero"`
	MemoryAvailableBytes Opt[float64] `json:"memory_available_bytes,omitzero"`
	SwapInTotal          Opt[float64] `json:"swap_in_total,omitzero"` // pages
	CPUPressure          Pressure     `json:"cpu_pressure,omitzero"`
	MemoryPressure       Pressure     `json:"memory_pressure,omitzero"`
	IOPressure           Pressure     `json:"io_pressure,omitzero"`

	Kernel                  string       `json:"kernel,omitempty"`  // release: "6.8.0-45-generic"
	Virtual                 string       `json:"virtual,omitempty"` // the hypervisor: "kvm"; "unknown" for one that does not tell
	BootedAt                time.Time    `json:"booted_at,omitzero"`
	BusiestCoreSecs         Opt[float64] `json:"busiest_core_seconds_total,omitzero"` // grows by what the busiest core of each interval was busy
	FullCores               Opt[float64] `json:"full_cores,omitzero"`                 // cores at least 95 % busy in the last interval
	Runnable                Opt[float64] `json:"runnable,omitzero"`                   // tasks running or ready to run, now
	Blocked                 Opt[float64] `json:"blocked,omitzero"`                    // tasks in uninterruptible sleep, now
	SwapTotalBytes          Opt[float64] `json:"swap_total_bytes,omitzero"`
	SwapFreeBytes           Opt[float64] `json:"swap_free_bytes,omitzero"`
	SwapOutTotal            Opt[float64] `json:"swap_out_total,omitzero"` // pages
	DirtyBytes              Opt[float64] `json:"dirty_bytes,omitzero"`    // waiting to be written to disk
	MajorFaultsTotal        Opt[float64] `json:"major_faults_total,omitzero"`
	OOMKillsTotal           Opt[float64] `json:"oom_kills_total,omitzero"`    // processes the kernel killed for memory
	TCPSegmentsTotal        Opt[float64] `json:"tcp_segments_total,omitzero"` // sent
	TCPRetransmitsTotal     Opt[float64] `json:"tcp_retransmits_total,omitzero"`
	TCPListenOverflowsTotal Opt[float64] `json:"tcp_listen_overflows_total,omitzero"` // connections refused: the backlog was full

	NUMANodes   []NUMANode   `json:"numa_nodes,omitempty"`
	Disks       []Disk       `json:"disks,omitempty"`
	Filesystems []Filesystem `json:"filesystems,omitempty"` // those that engines fill: root, temporary, shared memory, where the engine runs
	NICs        []NIC        `json:"nics,omitempty"`
}

// NUMANode is a node of the host's memory.
type NUMANode struct {
	Node             int          `json:"node"`
	CPUs             string       `json:"cpus"` // "0-31,64-95"
	MemoryTotalBytes Opt[float64] `json:"memory_total_bytes,omitzero"`
	MemoryFreeBytes  Opt[float64] `json:"memory_free_bytes,omitzero"`
}

// Disk is a whole block device, or what stands for several (md, dm). Counters are
// cumulative since boot.
type Disk struct {
	Name             string       `json:"name"`
	ReadBytesTotal   Opt[float64] `json:"read_bytes_total,omitzero"`
	WriteBytesTotal  Opt[float64] `json:"write_bytes_total,omitzero"`
	ReadsTotal       Opt[float64] `json:"reads_total,omitzero"`
	WritesTotal      Opt[float64] `json:"writes_total,omitzero"`
	BusySecondsTotal Opt[float64] `json:"busy_seconds_total,omitzero"` // with at least one request out
	WaitSecondsTotal Opt[float64] `json:"wait_seconds_total,omitzero"` // of all requests, queue included
	InFlight         Opt[float64] `json:"in_flight,omitzero"`
}

// Filesystem is how full one is.
type Filesystem struct {
	Mount      string       `json:"mount"`            // "" for that of an engine whose working directory this user may not see
	Engine     bool         `json:"engine,omitempty"` // as the engine sees it: of its working directory, or a container's own in place of the host's
	TotalBytes Opt[float64] `json:"total_bytes,omitzero"`
	FreeBytes  Opt[float64] `json:"free_bytes,omitzero"` // for ordinary users
}

// NIC is a network interface or an InfiniBand port. Counters are cumulative since boot.
type NIC struct {
	Name           string       `json:"name"`
	Kind           string       `json:"kind,omitempty"` // "ethernet", "infiniband", "virtual"
	RxBytesTotal   Opt[float64] `json:"rx_bytes_total,omitzero"`
	TxBytesTotal   Opt[float64] `json:"tx_bytes_total,omitzero"`
	RxDropsTotal   Opt[float64] `json:"rx_drops_total,omitzero"`
	TxDropsTotal   Opt[float64] `json:"tx_drops_total,omitzero"`
	ErrorsTotal    Opt[float64] `json:"errors_total,omitzero"`
	SpeedBytesPerS Opt[float64] `json:"speed_bytes_per_second,omitzero"` // of the link; missing when it does not tell
	Up             bool         `json:"up,omitempty"`
}

// Pressure is the kernel's pressure stall information: seconds in which some or
// all runnable tasks waited, cumulative; the averages are the kernel's own, as ratios.
type Pressure struct {
	SomeSecondsTotal Opt[float64] `json:"some_seconds_total,omitzero"`
	FullSecondsTotal Opt[float64] `json:"full_seconds_total,omitzero"`
	SomeAvg10Ratio   Opt[float64] `json:"some_avg10_ratio,omitzero"`
}
