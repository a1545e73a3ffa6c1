package probes

import "time"

// Host is the machine as a whole. Counters are cumulative since boot.
type Host struct {
	At                   time.Time    `json:"at"`
	CPUs                 int          `json:"cpus"`
	CPUBusySecondsTotal  Opt[float64] `json:"cpu_busy_seconds_total,omitzero"` // all cores, without idle and iowait
	CPUStealSecondsTotal Opt[float64] `json:"cpu_steal_seconds_total,omitzero"`
	CPUWaitSecondsTotal  Opt[float64] `json:"cpu_iowait_seconds_total,omitzero"`
	Load1                Opt[float64] `json:"load1,omitzero"`
	MemoryTotalBytes     Opt[float64] `json:"memory_total_bytes,omitzero"`
	MemoryAvailableBytes Opt[float64] `json:"memory_available_bytes,omitzero"`
	SwapInTotal          Opt[float64] `json:"swap_in_total,omitzero"` // pages
	CPUPressure          Pressure     `json:"cpu_pressure,omitzero"`
	MemoryPressure       Pressure     `json:"memory_pressure,omitzero"`
	IOPressure           Pressure     `json:"io_pressure,omitzero"`
}

// Pressure is the kernel's pressure stall information: seconds in which some or
// all runnable tasks waited, cumulative; the averages are the kernel's own, as ratios.
type Pressure struct {
	SomeSecondsTotal Opt[float64] `json:"some_seconds_total,omitzero"`
	FullSecondsTotal Opt[float64] `json:"full_seconds_total,omitzero"`
	SomeAvg10Ratio   Opt[float64] `json:"some_avg10_ratio,omitzero"`
}

// Process is the engine's process on this host. Counters are cumulative since its start.
type Process struct {
	At                      time.Time    `json:"at"`
	PID                     int          `json:"pid"`
	Name                    string       `json:"name"`
	StartedAt               time.Time    `json:"started_at,omitzero"`
	CPUSecondsTotal         Opt[float64] `json:"cpu_seconds_total,omitzero"` // user and system, all threads
	RSSBytes                Opt[float64] `json:"rss_bytes,omitzero"`
	Threads                 Opt[float64] `json:"threads,omitzero"`
	RunWaitSecondsTotal     Opt[float64] `json:"run_wait_seconds_total,omitzero"`       // threads waiting for a core (schedstat)
	BusiestThreadSecs       Opt[float64] `json:"busiest_thread_seconds_total,omitzero"` // grows by what the busiest thread of each interval ran
	VoluntarySwitchesTotal  Opt[float64] `json:"voluntary_switches_total,omitzero"`
	PreemptedSwitchesTotal  Opt[float64] `json:"involuntary_switches_total,omitzero"`
	MajorFaultsTotal        Opt[float64] `json:"major_faults_total,omitzero"`
	CgroupPeriodsTotal      Opt[float64] `json:"cgroup_periods_total,omitzero"`
	CgroupThrottledTotal    Opt[float64] `json:"cgroup_throttled_total,omitzero"`
	CgroupThrottledSecTotal Opt[float64] `json:"cgroup_throttled_seconds_total,omitzero"`
	CPULimitCores           Opt[float64] `json:"cpu_limit_cores,omitzero"` // tightest cgroup quota, absent when unlimited
}
