package host

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"llmtop/probes"
)

func fixed(pid int) func() []Engine { return func() []Engine { return []Engine{{PID: pid}} } }

func readProcess(t *testing.T, p *Process) *probes.Process {
	t.Helper()
	section, err := p.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return section.(*probes.Process)
}

func TestProcess(t *testing.T) {
	s := readProcess(t, NewProcess(tree(t, "process-v2.txtar"), fixed(42)))
	some := probes.Some[float64]
	rss := some(2500 * float64(os.Getpagesize()))
	want := probes.Process{
		At: s.At, PID: 42, Name: "llm engine", StartedAt: time.Unix(1796000060, 0).UTC(),
		CPUSecondsTotal: some(15), RSSBytes: rss, Threads: some(3), MajorFaultsTotal: some(77),
		RunWaitSecondsTotal: some(3.5), BusiestThreadSecs: some(10), VoluntarySwitchesTotal: some(175), PreemptedSwitchesTotal: some(16),
		CgroupPeriodsTotal: some(1000), CgroupThrottledTotal: some(250), CgroupThrottledSecTotal: some(12.5), CPULimitCores: some(1.5),

		BlockedThreads: some(0), BlockedSecondsTotal: some(0), Descriptors: some(2), DescriptorsLimit: some(1024),
		ReadBytesTotal: some(4096), WriteBytesTotal: some(8192), CgroupPath: "/kubepods/pod7",
		CgroupPressure:       probes.Pressure{SomeSecondsTotal: some(3), FullSecondsTotal: some(1), SomeAvg10Ratio: some(0.25)},
		CgroupMemoryPressure: probes.Pressure{SomeSecondsTotal: some(7), FullSecondsTotal: some(6), SomeAvg10Ratio: some(0.05)},
		MemoryLimitBytes:     some(9e8), MemoryLimitUsedBytes: some(7e8), CgroupOOMKillsTotal: some(2),
		AllowedCPUs: some(1), AllowedBusySecondsTotal: some(0),
		Members: []probes.Member{{PID: 42, Parent: 1, Name: "llm engine", Rank: "server", CPUSecondsTotal: some(15), RunWaitSecondsTotal: some(3.5),
			VoluntarySwitchesTotal: some(175), PreemptedSwitchesTotal: some(16), MajorFaultsTotal: some(77), RSSBytes: rss, Threads: some(3),
			BlockedThreads: some(0), Descriptors: some(2), DescriptorsLimit: some(1024), AllowedCPUs: "1,3"}},
	}
	if !reflect.DeepEqual(*s, want) {
		t.Errorf("got  %+v\nwant %+v", *s, want)
	}
}

// Threads come and go, and numbers are given anew; the totals only grow.
func TestThreadTotalsOnlyGrow(t *testing.T) {
	root := tree(t, "process-v2.txtar")
	p := NewProcess(root, fixed(42))
	defer p.Close()
	readProcess(t, p)
	thread := func(tid int, run, wait, voluntary int64) {
		put(t, root, fmt.Sprintf("proc/42/task/%d/schedstat", tid), fmt.Sprintf("%d %d %d\n", run, wait, run))
		put(t, root, fmt.Sprintf("proc/42/task/%d/status", tid), fmt.Sprintf("voluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t0\n", voluntary))
	}
	steps := []struct {
		name                     string
		change                   func()
		wait, busiest, voluntary float64
		busy                     string
	}{
		{"nothing", func() {}, 3.5, 10, 175, ""},
		{"a thread ends", func() { // an open file of one that ended reads as nothing
			put(t, root, "proc/42/task/43/schedstat", "")
			remove(t, root, "proc/42/task/43")
		}, 3.5, 10, 175, ""},
		{"one runs 3 s", func() { thread(44, 4e9, 75e7, 30) }, 3.75, 13, 180, "44 a) D 1 (b"},
		{"a new one ran 1 s", func() { thread(45, 1e9, 25e7, 7) }, 4, 14, 187, "45 "},
		{"its number is given anew", func() { thread(45, 5e8, 125e6, 2) }, 4.125, 14.5, 189, "45 "},
		{"two run", func() { thread(42, 11e9, 2e9, 100); thread(44, 6e9, 75e7, 30) }, 4.125, 16.5, 189, "44 a) D 1 (b, 42 llm engine"},
	}
	for _, s := range steps {
		s.change()
		got := readProcess(t, p)
		var busy []string
		for _, th := range got.BusyThreads {
			busy = append(busy, fmt.Sprintf("%d %s", th.TID, th.Name))
		}
		if got.RunWaitSecondsTotal.Or(-1) != s.wait || got.BusiestThreadSecs.Or(-1) != s.busiest || got.VoluntarySwitchesTotal.Or(-1) != s.voluntary || strings.Join(busy, ", ") != s.busy {
			t.Errorf("%s: waited %v, busiest %v, switches %v, busy %q; want %v, %v, %v, %q", s.name,
				got.RunWaitSecondsTotal, got.BusiestThreadSecs, got.VoluntarySwitchesTotal, busy, s.wait, s.busiest, s.voluntary, s.busy)
		}
	}
}

func TestAnotherProcessStartsFromItsOwn(t *testing.T) {
	root := tree(t, "process-v2.txtar")
	pid := 42
	p := NewProcess(root, func() []Engine { return []Engine{{PID: pid}} })
	readProcess(t, p)
	stat, _ := os.ReadFile(root + "/proc/42/stat")
	put(t, root, "proc/43/stat", strings.Replace(strings.Replace(string(stat), "42 (", "43 (", 1), " 6000 ", " 9000 ", 1))
	put(t, root, "proc/43/task/43/schedstat", "2000000000 1000000000 5\n")
	put(t, root, "proc/43/task/43/status", "voluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t1\n")
	pid = 43
	s := readProcess(t, p)
	if s.PID != 43 || s.RunWaitSecondsTotal.Or(-1) != 1 || s.BusiestThreadSecs.Or(-1) != 2 || !s.StartedAt.Equal(time.Unix(1796000090, 0)) {
		t.Errorf("got %+v", s)
	}
	if s.CPULimitCores.Seen() || s.CgroupPeriodsTotal.Why() != probes.NotExposed {
		t.Errorf("without a cgroup file: %+v", s)
	}
}

func TestProcessWithoutSchedstat(t *testing.T) {
	s := readProcess(t, NewProcess(tree(t, "process-free.txtar"), fixed(42)))
	for name, o := range map[string]probes.Opt[float64]{"wait": s.RunWaitSecondsTotal, "busiest": s.BusiestThreadSecs, "limit": s.CPULimitCores} {
		if o.Seen() || o.Why() != probes.NotExposed {
			t.Errorf("%s: %+v, want not exposed", name, o)
		}
	}
	if s.CgroupThrottledTotal.Or(-1) != 0 || s.CPUSecondsTotal.Or(-1) != 15 {
		t.Errorf("got %+v", s)
	}
}

func TestProcessErrors(t *testing.T) {
	root := tree(t, "process-v2.txtar")
	for pid, want := range map[int]string{
		0:  "the engine's process is not known",
		99: "reading process 99: there is no such process any more",
	} {
		section, err := NewProcess(root, fixed(pid)).Read(context.Background())
		if section != nil || err == nil || err.Error() != want {
			t.Errorf("pid %d: got %v, %v", pid, section, err)
		}
	}
}

func TestManyThreads(t *testing.T) {
	root := tree(t, "process-v2.txtar")
	for tid := range maxThreads {
		put(t, root, fmt.Sprintf("proc/42/task/%d/schedstat", 1000+tid), "1000000000 1000000000 1\n")
	}
	p := NewProcess(root, fixed(42))
	defer p.Close()
	s := readProcess(t, p)
	if s.Threads.Or(-1) != 3 || !s.CPUSecondsTotal.Seen() || !s.BusiestThreadSecs.Seen() {
		t.Errorf("what the process itself tells: %+v", s)
	}
	for name, o := range map[string]probes.Opt[float64]{"wait": s.RunWaitSecondsTotal, "switches": s.VoluntarySwitchesTotal, "blocked": s.BlockedThreads} {
		if o.Seen() || o.Why() != probes.Unsupported {
			t.Errorf("%s of too many threads: %+v", name, o)
		}
	}
}

// A server of very many threads leaves room for those of the process that schedules.
func TestManyThreadsLeaveRoom(t *testing.T) {
	m := newMachine(t)
	m.living(100, 1, "vllm", 0, 10)
	m.living(110, 100, "VLLM::EngineCore", 0, 20)
	m.children(100, "110 ")
	m.children(110, "")
	for tid := range 2 * maxThreads {
		m.put(fmt.Sprintf("100/task/%d/schedstat", 1000+tid), "0 0 1\n")
	}
	m.put("100/stat", "100 (vllm) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 5000 0 10 0 100 0\n")
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	for i := range 2 * slowEvery {
		m.put("110/task/110/schedstat", fmt.Sprintf("%d000000000 0 %d\n", i, i))
		s := readProcess(t, p)
		if i > 0 && (len(s.BusyThreads) != 1 || s.BusyThreads[0].TID != 110) {
			t.Fatalf("pass %d: busy threads %+v", i, s.BusyThreads)
		}
		if s.RunWaitSecondsTotal.Seen() || s.Members[0].RunWaitSecondsTotal.Seen() || !s.Members[1].RunWaitSecondsTotal.Seen() {
			t.Fatalf("pass %d: waits %+v", i, s.RunWaitSecondsTotal)
		}
	}
	if n := len(p.members[0].threads.list) + len(p.members[1].threads.list); n > maxThreads {
		t.Errorf("%d threads are read", n)
	}
}

func TestThisProcess(t *testing.T) {
	s := readProcess(t, NewProcess("/", fixed(os.Getpid())))
	if s.PID != os.Getpid() || s.Name == "" || !s.CPUSecondsTotal.Seen() || s.RSSBytes.Or(0) < 1<<20 || s.Threads.Or(0) < 1 {
		t.Errorf("got %+v", s)
	}
}

// cpuTime is what this process has used, in nanoseconds: what counts on a machine that others use as well.
func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
