package host

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"llmtop/probes"
)

func fixed(pid int) func() int { return func() int { return pid } }

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
	want := probes.Process{
		At: s.At, PID: 42, Name: "llm engine", StartedAt: time.Unix(1796000060, 0).UTC(),
		CPUSecondsTotal: some(15), RSSBytes: some(2500 * float64(os.Getpagesize())), Threads: some(3), MajorFaultsTotal: some(77),
		RunWaitSecondsTotal: some(3.5), BusiestThreadSecs: some(10), VoluntarySwitchesTotal: some(175), PreemptedSwitchesTotal: some(16),
		CgroupPeriodsTotal: some(1000), CgroupThrottledTotal: some(250), CgroupThrottledSecTotal: some(12.5), CPULimitCores: some(1.5),
	}
	if !reflect.DeepEqual(*s, want) {
		t.Errorf("got  %+v\nwant %+v", *s, want)
	}
}

// Threads come and go, and numbers are given anew; the totals only grow.
func TestThreadTotalsOnlyGrow(t *testing.T) {
	root := tree(t, "process-v2.txtar")
	p := NewProcess(root, fixed(42))
	readProcess(t, p)
	thread := func(tid int, run, wait, voluntary int64) {
		put(t, root, fmt.Sprintf("proc/42/task/%d/schedstat", tid), fmt.Sprintf("%d %d 1\n", run, wait))
		put(t, root, fmt.Sprintf("proc/42/task/%d/status", tid), fmt.Sprintf("voluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t0\n", voluntary))
	}
	steps := []struct {
		name                     string
		change                   func()
		wait, busiest, voluntary float64
	}{
		{"nothing", func() {}, 3.5, 10, 175},
		{"a thread ends", func() { remove(t, root, "proc/42/task/43") }, 3.5, 10, 175},
		{"one runs 3 s", func() { thread(44, 4e9, 75e7, 30) }, 3.75, 13, 180},
		{"a new one ran 1 s", func() { thread(45, 1e9, 25e7, 7) }, 4, 14, 187},
		{"its number is given anew", func() { thread(45, 5e8, 125e6, 2) }, 4.125, 14.5, 189},
	}
	for _, s := range steps {
		s.change()
		got := readProcess(t, p)
		for range switchesEvery - 1 { // until each thread's switches had their turn
			got = readProcess(t, p)
		}
		if got.RunWaitSecondsTotal.Or(-1) != s.wait || got.BusiestThreadSecs.Or(-1) != s.busiest || got.VoluntarySwitchesTotal.Or(-1) != s.voluntary {
			t.Errorf("%s: waited %v, busiest %v, switches %v; want %v, %v, %v", s.name,
				got.RunWaitSecondsTotal, got.BusiestThreadSecs, got.VoluntarySwitchesTotal, s.wait, s.busiest, s.voluntary)
		}
	}
}

func TestAnotherProcessStartsFromItsOwn(t *testing.T) {
	root := tree(t, "process-v2.txtar")
	pid := 42
	p := NewProcess(root, func() int { return pid })
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
	for tid := range maxSwitchThreads {
		put(t, root, fmt.Sprintf("proc/42/task/%d/schedstat", 1000+tid), "1000000000 1000000000 1\n")
	}
	s := readProcess(t, NewProcess(root, fixed(42)))
	if got := s.RunWaitSecondsTotal.Or(-1); got != 3.5+maxSwitchThreads {
		t.Errorf("waited %v", got)
	}
	if o := s.VoluntarySwitchesTotal; o.Seen() || o.Why() != probes.Unsupported {
		t.Errorf("switches of too many threads: %+v", o)
	}
}

func TestThisProcess(t *testing.T) {
	s := readProcess(t, NewProcess("/", os.Getpid))
	if s.PID != os.Getpid() || s.Name == "" || !s.CPUSecondsTotal.Seen() || s.RSSBytes.Or(0) < 1<<20 || s.Threads.Or(0) < 1 {
		t.Errorf("got %+v", s)
	}
}

// BenchmarkProcess reads this process with at least 30 threads.
func BenchmarkProcess(b *testing.B) {
	release := make(chan struct{})
	defer close(release)
	ready := make(chan struct{})
	for range 30 {
		go func() {
			runtime.LockOSThread() // ends with the goroutine
			ready <- struct{}{}
			<-release
		}()
	}
	for range 30 {
		<-ready
	}
	p := NewProcess("/", os.Getpid)
	b.ReportAllocs()
	began := cpuTime()
	for b.Loop() {
		if _, err := p.Read(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-began)/float64(b.N), "cpu-ns/op")
}

// cpuTime is what this process has used, in nanoseconds: what counts on a machine that others use as well.
func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
