package host

import (
	"fmt"
	"testing"

	"llmtop/probes"
)

// group puts the CPU side of a cgroup of version 2 into a machine.
func (m machine) group(path, quota string, throttledSeconds int) {
	dir := "sys/fs/cgroup/" + path
	put(m.t, m.root, dir+"/cpu.stat", fmt.Sprintf("usage_usec 1\nnr_periods %d\nnr_throttled %d\nthrottled_usec %d\n", 10*throttledSeconds, throttledSeconds, throttledSeconds*1e6))
	if quota != "" {
		put(m.t, m.root, dir+"/cpu.max", quota+"\n")
	}
}

// Of members in several cgroups and of the groups above them, the one is told that was
// throttled most; the totals take up what it gained and never fall.
func TestThrottledMost(t *testing.T) {
	m := newMachine(t)
	for pid, path := range map[int]string{100: "/pod/api", 101: "/pod/worker", 102: "/pod/worker"} {
		m.living(pid, 100, "vllm", 1, 10)
		m.put(fmt.Sprintf("%d/cgroup", pid), "0::"+path+"\n")
		m.children(pid, "")
	}
	m.children(100, "101 102 ")
	m.group("", "", 0)
	m.group("pod", "400000 100000", 50)
	m.group("pod/api", "max 100000", 0)
	m.group("pod/worker", "200000 100000", 7)
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	for _, step := range []struct {
		name   string
		change func()
		want   string
		total  float64
	}{
		{"at first that with the tightest quota", func() {}, "/pod/worker 2 cores", 7},
		{"nobody was throttled", func() {}, "/pod/worker 2 cores", 7},
		{"the pod was throttled more", func() { m.group("pod", "400000 100000", 55); m.group("pod/worker", "200000 100000", 8) }, "/pod 2 cores", 12},
		{"nobody was", func() {}, "/pod 2 cores", 12},
		{"the worker was", func() { m.group("pod/worker", "200000 100000", 9) }, "/pod/worker 2 cores", 13},
		{"a counter went back", func() { m.group("pod/worker", "200000 100000", 1) }, "/pod/worker 2 cores", 13},
		{"the workers moved away", func() {
			m.put("101/cgroup", "0::/pod/api\n")
			m.put("102/cgroup", "0::/pod/api\n")
			p.slowly()
		}, "/pod 4 cores", 13},
		{"the quota was lifted", func() { m.group("pod", "max 100000", 60); p.slowly() }, "/pod/api 0 cores", 13},
	} {
		step.change()
		s := readProcess(t, p)
		got := fmt.Sprintf("%s %.0f cores", s.CgroupPath, s.CPULimitCores.Or(0))
		if got != step.want || s.CgroupThrottledSecTotal.Or(-1) != step.total || s.CgroupThrottledTotal.Or(-1) != step.total || s.CgroupPeriodsTotal.Or(-1) != 10*step.total {
			t.Errorf("%s: %s, throttled %v s, want %s, %v", step.name, got, s.CgroupThrottledSecTotal, step.want, step.total)
		}
	}
}

// A quota that is put on a running engine is seen in the next pass, not when there is time.
func TestQuotaThatComes(t *testing.T) {
	m := newMachine(t)
	m.living(100, 1, "vllm", 1, 10)
	m.children(100, "")
	m.put("100/cgroup", "0::/before\n")
	m.group("before", "max 100000", 0)
	m.group("a..b/limited", "30000 100000", 5)
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	for range 3 {
		readProcess(t, p)
	}
	m.put("100/cgroup", "0::/a..b/limited\n") // a name with dots leads nowhere else
	s := readProcess(t, p)
	if s.CgroupPath != "/a..b/limited" || s.CPULimitCores.Or(-1) != 0.3 || s.CgroupThrottledTotal.Or(-1) != 0 {
		t.Errorf("%s, %+v cores, throttled %+v", s.CgroupPath, s.CPULimitCores, s.CgroupThrottledTotal)
	}
	m.group("a..b/limited", "30000 100000", 7)
	if s := readProcess(t, p); s.CgroupThrottledTotal.Or(-1) != 2 {
		t.Errorf("throttled %+v", s.CgroupThrottledTotal)
	}
}

// slowly makes the next pass one in which everything is read that changes rarely.
func (p *Process) slowly() {
	p.number = p.number/slowEvery*slowEvery + slowEvery - 1
	for _, m := range p.members {
		m.since = p.number + 1
		m.young = true // its past is known
	}
}

// The CPU controller is one of version 1, pressure is told by version 2 beside it.
func TestHybridCgroups(t *testing.T) {
	m := newMachine(t)
	m.living(100, 1, "vllm", 1, 10)
	m.put("100/cgroup", "4:memory:/m\n3:cpu,cpuacct:/svc\n0::/svc\n")
	for path, text := range map[string]string{
		"cpu,cpuacct/svc/cpu.stat":          "nr_periods 30\nnr_throttled 3\nthrottled_time 1500000000\n",
		"cpu,cpuacct/svc/cpu.cfs_quota_us":  "30000\n",
		"cpu,cpuacct/svc/cpu.cfs_period_us": "100000\n",
		"cpu,cpuacct/cpu.stat":              "nr_periods 0\n",
		"unified/svc/cpu.stat":              "usage_usec 5\n",
		"unified/svc/cpu.pressure":          "some avg10=nan avg60=0 avg300=0 total=2000000\nfull\ngarbage total=x\n",
		"memory/m/memory.limit_in_bytes":    "9223372036854771712\n",
		"memory/m/memory.usage_in_bytes":    "100\n",
		"memory/m/memory.stat":              "total_inactive_file 50\n",
		"memory/m/memory.oom_control":       "oom_kill 1\n",
		"memory/memory.limit_in_bytes":      "1000\n",
		"memory/memory.usage_in_bytes":      "900\n",
		"memory/memory.stat":                "total_inactive_file 100\n",
		"memory/memory.oom_control":         "oom_kill 77\n",
	} {
		put(t, m.root, "sys/fs/cgroup/"+path, text)
	}
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	s := readProcess(t, p)
	some, none := probes.Some[float64], probes.None[float64](probes.NotExposed)
	for name, c := range map[string]struct{ got, want probes.Opt[float64] }{
		"limit":            {s.CPULimitCores, some(0.3)},
		"throttled":        {s.CgroupThrottledSecTotal, some(1.5)},
		"pressure":         {s.CgroupPressure.SomeSecondsTotal, some(2)},
		"full pressure":    {s.CgroupPressure.FullSecondsTotal, none},
		"memory pressure":  {s.CgroupMemoryPressure.SomeSecondsTotal, none},
		"memory limit":     {s.MemoryLimitBytes, some(1000)},
		"memory used":      {s.MemoryLimitUsedBytes, some(800)},
		"kills of its own": {s.CgroupOOMKillsTotal, some(1)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
	if s.CgroupPath != "/svc" {
		t.Errorf("path %q", s.CgroupPath)
	}
}

// A process of another container, seen from inside one: its own mount tells its group.
func TestCgroupOfAnotherContainer(t *testing.T) {
	m := newMachine(t)
	m.living(100, 1, "vllm", 1, 10)
	m.put("100/cgroup", "0::/../other\n")
	m.group("", "max 100000", 99) // ours
	theirs := "100/root/sys/fs/cgroup/"
	m.put(theirs+"cgroup.procs", "100\n")
	m.put(theirs+"cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_usec 2000000\n")
	m.put(theirs+"cpu.max", "100000 100000\n")
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	if s := readProcess(t, p); s.CgroupThrottledSecTotal.Or(-1) != 2 || s.CPULimitCores.Or(-1) != 1 || s.CgroupPath != "/" {
		t.Errorf("throttled %v s, limit %v, path %q", s.CgroupThrottledSecTotal, s.CPULimitCores, s.CgroupPath)
	}
}

// Processes killed for memory count from what was known first.
func TestGroupMemory(t *testing.T) {
	m := newMachine(t)
	m.living(100, 1, "vllm", 1, 10)
	m.put("100/cgroup", "0::/a/b\n")
	set := func(path string, limit, used, kills int) {
		dir := "sys/fs/cgroup/" + path
		put(t, m.root, dir+"/memory.max", fmt.Sprintln(limit))
		put(t, m.root, dir+"/memory.current", fmt.Sprintln(used))
		put(t, m.root, dir+"/memory.stat", "inactive_file 10\n")
		put(t, m.root, dir+"/memory.events", fmt.Sprintf("oom 9\noom_kill %d\n", kills))
	}
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	for _, step := range []struct {
		name               string
		limit, used, kills int
		limitOf, usedOf    float64
		total              float64
	}{
		{"the outer limit is nearer", 1000, 110, 2, 2000, 1490, 2},
		{"the inner one is", 1000, 960, 2, 1000, 950, 2},
		{"one is killed", 1000, 510, 3, 2000, 1490, 3},
		{"the group was made anew", 1000, 510, 1, 2000, 1490, 3},
	} {
		set("a", 2000, 1500, 99)
		set("a/b", step.limit, step.used, step.kills)
		var s *probes.Process
		for i := range memoryEvery {
			s = readProcess(t, p)
			if got := s.CgroupOOMKillsTotal.Or(-1); got != step.total {
				t.Errorf("%s: %v kills in pass %d, want %v: the host counts them at once", step.name, got, i, step.total)
			}
		}
		if s.MemoryLimitBytes.Or(-1) != step.limitOf || s.MemoryLimitUsedBytes.Or(-1) != step.usedOf || s.CgroupOOMKillsTotal.Or(-1) != step.total {
			t.Errorf("%s: %+v of %+v, %+v kills", step.name, s.MemoryLimitUsedBytes, s.MemoryLimitBytes, s.CgroupOOMKillsTotal)
		}
	}
}
