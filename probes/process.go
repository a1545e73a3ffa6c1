package probes

import "time"

// Process is what the engines on this host take: each process that listens, with all
// below it and the workers that belong to it. Counters are cumulative since llmtop first
// saw a member, or since its start where that is what the kernel tells; a member that
// ends takes nothing back.
type Process struct {
	At                      time.Time    `json:"at"`
	PID                     int          `json:"pid"`  // that listens, of the first engine
	Name                    string       `json:"name"` // its
	StartedAt               time.Time    `json:"started_at,omitzero"`
	CPUSecondsTotal         Opt[float64] `json:"cpu_seconds_total,omitzero"` // user and system, all threads; of processes too that began and ended between two reads
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

	BlockedThreads          Opt[float64] `json:"blocked_threads,omitzero"`         // in uninterruptible sleep (state D), now
	BlockedSecondsTotal     Opt[float64] `json:"blocked_seconds_total,omitzero"`   // grows by the interval for each thread that was so at both its ends
	Descriptors             Opt[float64] `json:"descriptors,omitzero"`             // open, of the member nearest to its limit
	DescriptorsLimit        Opt[float64] `json:"descriptors_limit,omitzero"`       // of that member
	ReadBytesTotal          Opt[float64] `json:"read_bytes_total,omitzero"`        // from disks
	WriteBytesTotal         Opt[float64] `json:"write_bytes_total,omitzero"`       // to disks
	CgroupPath              string       `json:"cgroup_path,omitempty"`            // of the group whose throttling is told: the one throttled most, else with the tightest CPU quota
	CgroupPressure          Pressure     `json:"cgroup_pressure,omitzero"`         // CPU, of the group (version 2) that PID is in
	CgroupMemoryPressure    Pressure     `json:"cgroup_memory_pressure,omitzero"`  // memory, of that group
	MemoryLimitBytes        Opt[float64] `json:"memory_limit_bytes,omitzero"`      // of the cgroup nearest to its limit (max or high), absent when unlimited
	MemoryLimitUsedBytes    Opt[float64] `json:"memory_limit_used_bytes,omitzero"` // of the group that sets it, page cache that can be given back left out
	CgroupOOMKillsTotal     Opt[float64] `json:"cgroup_oom_kills_total,omitzero"`
	AllowedCPUs             Opt[float64] `json:"allowed_cpus,omitzero"`               // cores that a member may run on, of the member with the fewest
	AllowedBusySecondsTotal Opt[float64] `json:"allowed_busy_seconds_total,omitzero"` // busy seconds of those cores, by anybody

	Members     []Member `json:"members,omitempty"`      // by PID
	BusyThreads []Thread `json:"busy_threads,omitempty"` // the busiest of the last interval, busiest first
}

// Member is one process of an engine. Counters are cumulative since its start.
type Member struct {
	PID                    int          `json:"pid"`
	Parent                 int          `json:"parent"`
	Name                   string       `json:"name"`
	Rank                   string       `json:"rank,omitempty"`     // "dp0", "tp1", "server", "worker", as its title says
	Endpoint               string       `json:"endpoint,omitempty"` // of its engine
	CPUSecondsTotal        Opt[float64] `json:"cpu_seconds_total,omitzero"`
	RunWaitSecondsTotal    Opt[float64] `json:"run_wait_seconds_total,omitzero"`
	VoluntarySwitchesTotal Opt[float64] `json:"voluntary_switches_total,omitzero"`
	PreemptedSwitchesTotal Opt[float64] `json:"involuntary_switches_total,omitzero"`
	MajorFaultsTotal       Opt[float64] `json:"major_faults_total,omitzero"`
	RSSBytes               Opt[float64] `json:"rss_bytes,omitzero"`
	Threads                Opt[float64] `json:"threads,omitzero"`
	BlockedThreads         Opt[float64] `json:"blocked_threads,omitzero"`
	Descriptors            Opt[float64] `json:"descriptors,omitzero"`
	DescriptorsLimit       Opt[float64] `json:"descriptors_limit,omitzero"`
	AllowedCPUs            string       `json:"allowed_cpus,omitempty"` // "0-31,64-95"
}

// Thread is a thread of a member. Counters are cumulative since its start.
type Thread struct {
	PID                 int          `json:"pid"`
	TID                 int          `json:"tid"`
	Name                string       `json:"name"`
	State               string       `json:"state,omitempty"` // R, S, D …
	CPUSecondsTotal     Opt[float64] `json:"cpu_seconds_total,omitzero"`
	RunWaitSecondsTotal Opt[float64] `json:"run_wait_seconds_total,omitzero"`
}

// Neighbours are the processes beside the engines' that take most, looked at rarely.
type Neighbours struct {
	At          time.Time   `json:"at"`
	SpanSeconds float64     `json:"span_seconds"`      // over which the rates are
	Processes   int         `json:"processes"`         // on the host, threads of the kernel too, without the engines' and llmtop
	Partial     bool        `json:"partial,omitempty"` // this user may not see all processes
	List        []Neighbour `json:"list,omitempty"`
}

// Neighbour is one of them.
type Neighbour struct {
	PID          int          `json:"pid"`
	Name         string       `json:"name"`
	User         string       `json:"user,omitempty"`
	CPUCores     Opt[float64] `json:"cpu_cores,omitzero"`
	RSSBytes     Opt[float64] `json:"rss_bytes,omitzero"`
	IOBytesPerS  Opt[float64] `json:"io_bytes_per_second,omitzero"` // to and from disks; asked of those that are busy, blocked or large
	SharedCPUs   Opt[float64] `json:"shared_cpus,omitzero"`         // cores that both it and the engine may run on
	Blocked      bool         `json:"blocked,omitempty"`            // in uninterruptible sleep
	CgroupWeight Opt[float64] `json:"cgroup_weight,omitzero"`       // of its CPU cgroup; 100 is usual (version 1: 1024)
}

// Sockets are the engines' TCP connections: a send queue that stays full is a client that reads slowly.
type Sockets struct {
	At             time.Time    `json:"at"`
	Connections    Opt[float64] `json:"connections,omitzero"`      // established
	SendQueueBytes Opt[float64] `json:"send_queue_bytes,omitzero"` // sent and not yet acknowledged, of all
	RecvQueueBytes Opt[float64] `json:"recv_queue_bytes,omitzero"` // received and not yet read by the engine
	Waiting        Opt[float64] `json:"waiting,omitzero"`          // connections not yet accepted
	WaitingLimit   Opt[float64] `json:"waiting_limit,omitzero"`    // the backlog
	Full           []Connection `json:"full,omitempty"`            // those with the longest send queues, longest first
}

// Connection is one of them.
type Connection struct {
	Endpoint       string       `json:"endpoint"` // of the engine
	Peer           string       `json:"peer"`     // address and port
	SendQueueBytes float64      `json:"send_queue_bytes"`
	RecvQueueBytes float64      `json:"recv_queue_bytes"`
	Retransmits    Opt[float64] `json:"retransmits,omitzero"`   // of the segment that is out
	StuckSeconds   Opt[float64] `json:"stuck_seconds,omitzero"` // for how long the peer has taken too little of it: its window is closed, it acknowledges nothing, or the queue is long; 0 for what is only on its way
}

func (p *Process) AddTo(to *Sample)    { to.Process = p }
func (n *Neighbours) AddTo(to *Sample) { to.Neighbours = n }
func (s *Sockets) AddTo(to *Sample)    { to.Sockets = s }
