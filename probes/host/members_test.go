package host

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"llmtop/probes"
)

// living puts a whole process into a machine.
func (m machine) living(pid, parent int, name string, cpu, start int) {
	dir := strconv.Itoa(pid)
	m.put(dir+"/stat", fmt.Sprintf("%d (%s) S %d 1 1 0 -1 0 0 0 %d 0 %d 0 0 0 20 0 1 0 %d 0 100 0\n", pid, name, parent, cpu, cpu, start))
	m.put(dir+"/cmdline", name+"\x00")
	m.put(dir+"/task/"+dir+"/stat", fmt.Sprintf("%d (%s) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 100 0\n", pid, name, parent, start))
	m.put(dir+"/task/"+dir+"/status", fmt.Sprintf("voluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n", cpu, cpu))
	m.put(dir+"/task/"+dir+"/schedstat", fmt.Sprintf("%d %d %d\n", cpu*1e7, cpu*1e7, cpu))
	m.put(dir+"/io", fmt.Sprintf("read_bytes: %d\nwrite_bytes: %d\n", cpu, cpu))
	m.put(dir+"/limits", "Limit\nMax open files            1000  4096 files\n")
}

func (m machine) children(pid int, list string) {
	m.put(fmt.Sprintf("%d/task/%d/children", pid, pid), list)
}

// die ends a process as the kernel does it: its open files tell nothing any more.
func (m machine) die(pid int) {
	m.put(fmt.Sprintf("%d/stat", pid), "")
	remove(m.t, m.root, fmt.Sprintf("proc/%d", pid))
}

func names(s *probes.Process) string {
	var list []string
	for _, m := range s.Members {
		list = append(list, strings.Join(strings.Fields(fmt.Sprintf("%d %s %s", m.PID, m.Rank, strings.TrimPrefix(m.Endpoint, "http://"))), " "))
	}
	return strings.Join(list, ", ")
}

// A tree grows, loses and restarts members, and another engine joins: the totals count
// what was done meanwhile, and never fall. Without lists of children a scan finds them.
func TestTree(t *testing.T) {
	for _, listed := range []bool{true, false} {
		t.Run(fmt.Sprintf("children listed %v", listed), func(t *testing.T) { testTree(t, listed) })
	}
}

func testTree(t *testing.T, listed bool) {
	m := newMachine(t)
	lists := func(pid int, list string) {
		if listed {
			m.children(pid, list)
		}
	}
	engines := []Engine{{PID: 100, Endpoint: "http://a"}}
	m.living(1, 0, "init", 9999, 1)
	m.living(100, 1, "vllm", 500, 10)
	m.living(110, 100, "VLLM::EngineCore_DP1", 300, 20)
	m.living(111, 110, "VLLM::Worker_DP1_TP3", 200, 30)
	m.living(300, 1, "other", 7000, 40)
	lists(100, "110 ")
	lists(110, "111 ")
	lists(111, "")
	p := NewProcess(m.root, func() []Engine { return engines })
	defer p.Close()
	for _, step := range []struct {
		name   string
		change func()
		want   string
		cpu    float64 // seconds, and as many it waited for
	}{
		{"at first all that was done", func() {}, "100 server a, 110 dp1 a, 111 dp1 tp3 a", 10},
		{"some is done", func() { m.living(111, 110, "VLLM::Worker_DP1_TP3", 250, 30) }, "100 server a, 110 dp1 a, 111 dp1 tp3 a", 10.5},
		{"one ends", func() { m.die(111); lists(110, "") }, "100 server a, 110 dp1 a", 10.5},
		{"another engine joins, with its past", func() {
			m.living(300, 1, "sglang", 8000, 40)
			lists(300, "310 ")
			m.living(310, 300, "sglang::scheduler_TP1", 4000, 41)
			lists(310, "")
			engines = append(engines, Engine{PID: 300, Endpoint: "http://b"}, Engine{PID: 300, Endpoint: "http://c"}, Engine{PID: 77, Endpoint: "http://d"}, Engine{})
		}, "100 server a, 110 dp1 a, 300 server b, 310 tp1 b", 10.5},
		{"both work", func() { m.living(300, 1, "sglang", 8100, 40); m.living(110, 100, "VLLM::EngineCore_DP1", 350, 20) }, "100 server a, 110 dp1 a, 300 server b, 310 tp1 b", 12},
		{"an engine restarts", func() {
			m.die(300)
			m.living(400, 1, "sglang", 100, 90)
			lists(400, "")
			engines[1], engines[2] = Engine{PID: 400, Endpoint: "http://b"}, Engine{}
		}, "100 server a, 110 dp1 a, 400 server b", 12},
		{"the number of a member is given anew", func() { m.living(110, 100, "python3", 5, 95) }, "100 server a, 110 a, 400 server b", 12},
		{"the first engine is another one: all begins anew", func() { m.living(100, 1, "vllm", 100, 99) }, "100 server a, 110 a, 400 server b", 2.05},
	} {
		step.change()
		p.scan.of = nil // as if it were time for one
		s := readProcess(t, p)
		if got := names(s); got != step.want {
			t.Errorf("%s:\n got %s\nwant %s", step.name, got, step.want)
		}
		if cpu := s.CPUSecondsTotal.Or(-1); cpu < step.cpu-1e-6 || cpu > step.cpu+0.0501 {
			t.Errorf("%s: %v CPU seconds, want %v", step.name, cpu, step.cpu)
		}
		if wait := s.RunWaitSecondsTotal.Or(-1); wait < step.cpu-1e-6 || wait > step.cpu+0.0501 {
			t.Errorf("%s: waited %v s, want %v", step.name, wait, step.cpu)
		}
	}
}

// What processes did that began and ended between two reads counts, and so do the last
// moments of those that were members; what was counted before counts once.
func TestShortLives(t *testing.T) {
	m := newMachine(t)
	// lives is a process of so many hundredths, which waited for others of so many.
	lives := func(pid, parent, cpu, reaped, start int) {
		m.living(pid, parent, "vllm", 0, start)
		m.put(fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (a) S %d 1 1 0 -1 0 0 0 0 0 %d 0 %d 0 20 0 1 0 %d 0 100 0\n", pid, parent, cpu, reaped, start))
	}
	lives(100, 1, 1000, 5000, 10)
	lives(110, 100, 300, 100, 20)
	lives(111, 110, 200, 0, 30)
	m.children(100, "110 ")
	m.children(110, "111 ")
	m.children(111, "")
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	first := readProcess(t, p).CPUSecondsTotal.Or(-1)
	for _, step := range []struct {
		name   string
		change func()
		want   float64 // seconds since the first read
	}{
		{"nothing", func() {}, 0},
		{"a compiler ran for 4 s", func() { lives(100, 1, 1000, 5400, 10) }, 4},
		{"a member ends, nobody waited for it yet", func() { m.die(111); m.children(110, "") }, 4},
		{"meanwhile another one ran for 1 s: it is not known which of both it was", func() { lives(110, 100, 300, 200, 20) }, 4},
		{"it was waited for; its last 0.5 s count, and the other one", func() { lives(110, 100, 300, 450, 20) }, 5.5},
		{"its parent ends, which has 7.5 s behind it, and was given 0.5 s more", func() {
			m.die(110)
			m.children(100, "")
			lives(100, 1, 1000, 5400+750+50, 10)
		}, 6},
		{"a member and its parent end at once", func() {
			lives(120, 100, 100, 0, 40)
			lives(121, 120, 100, 0, 50)
			m.children(100, "120 ")
			m.children(120, "121 ")
			m.children(121, "")
		}, 8},
		{"they do", func() {
			m.die(120)
			m.die(121)
			m.children(100, "")
			lives(100, 1, 1000, 6200+200+10, 10)
		}, 8.1},
	} {
		step.change()
		if got := readProcess(t, p).CPUSecondsTotal.Or(-1) - first; got < step.want-1e-6 || got > step.want+1e-6 {
			t.Errorf("%s: %v s since the first read, want %v", step.name, got, step.want)
		}
	}
}

// What a process did counts from its birth when that was seen.
func TestYoungMember(t *testing.T) {
	m := newMachine(t)
	m.living(100, 1, "vllm", 100, 10)
	m.children(100, "")
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	readProcess(t, p)
	m.living(101, 100, "compiler", 50, 20)
	m.living(102, 101, "its child", 25, 21)
	m.children(100, "101 10") // the kernel's list was cut off
	m.children(101, "102 ")
	m.children(102, "")
	s := readProcess(t, p)
	if s.CPUSecondsTotal.Or(-1) != 1.75 || s.VoluntarySwitchesTotal.Or(-1) != 175 || s.ReadBytesTotal.Or(-1) != 175 || len(s.BusyThreads) != 2 {
		t.Errorf("got %+v", s)
	}
}

func TestSiblings(t *testing.T) {
	for _, c := range []struct{ name, parent, root, sibling, want string }{
		{"Ray's actors", "raylet", "ray::ServeReplica:llm", "ray::RayWorkerWrapper", "100 worker, 101 worker"},
		{"others of Ray", "raylet", "ray::ServeReplica:llm", "python3", "100 worker"},
		{"what a launcher started", "text-generation-launcher", "text-generation-router", "python3", "100 server, 101"},
		{"what anybody started", "bash", "vllm", "python3", "100 server"},
	} {
		m := newMachine(t)
		m.living(90, 1, c.parent, 1, 5)
		m.living(100, 90, c.root, 1, 10)
		m.living(101, 90, c.sibling, 1, 11)
		p := NewProcess(m.root, fixed(100))
		if got := names(readProcess(t, p)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		p.Close()
	}
}

// Two engines of which one has started the other stay two.
func TestEngineBelowAnother(t *testing.T) {
	m := newMachine(t)
	engines := []Engine{{PID: 100, Endpoint: "a"}}
	m.living(100, 1, "router", 1, 10)
	m.living(110, 100, "vllm", 1, 11)
	m.living(111, 110, "VLLM::EngineCore_0", 1, 12)
	m.children(100, "110 ")
	m.children(110, "111 ")
	m.children(111, "")
	p := NewProcess(m.root, func() []Engine { return engines })
	defer p.Close()
	if got := names(readProcess(t, p)); got != "100 server a, 110 a, 111 dp0 a" {
		t.Errorf("got %s", got)
	}
	engines = append(engines, Engine{PID: 110, Endpoint: "b"})
	if got := names(readProcess(t, p)); got != "100 server a, 110 b, 111 dp0 b" {
		t.Errorf("got %s", got)
	}
}

func TestManyMembers(t *testing.T) {
	m := newMachine(t)
	m.living(1000, 1, "vllm", 10, 10)
	list := ""
	for pid := 1001; pid <= 1000+maxMembers; pid++ {
		m.living(pid, 1000, "worker", 10, 10)
		list += strconv.Itoa(pid) + " "
	}
	m.children(1000, list)
	p := NewProcess(m.root, fixed(1000))
	defer p.Close()
	s := readProcess(t, p)
	if len(s.Members) != maxMembers || s.CPUSecondsTotal.Seen() || s.CPUSecondsTotal.Why() != probes.Unsupported || !s.BusiestThreadSecs.Seen() {
		t.Errorf("%d members, CPU %+v, busiest %+v", len(s.Members), s.CPUSecondsTotal, s.BusiestThreadSecs)
	}
}

// Another user's process: what may not be seen has its reason.
func TestWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may see everything")
	}
	m := newMachine(t)
	m.living(100, 1, "vllm", 10, 10)
	m.children(100, "")
	m.put("100/fd/0", "x")
	for _, path := range []string{"/io", "/fd"} {
		if err := os.Chmod(m.root+"/proc/100"+path, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(m.root+"/proc/100"+path, 0o755)
	}
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	s := readProcess(t, p)
	if s.ReadBytesTotal.Why() != probes.NoPermission || s.Descriptors.Why() != probes.NoPermission || s.Members[0].Descriptors.Why() != probes.NoPermission || s.DescriptorsLimit.Or(-1) != 1000 {
		t.Errorf("read %+v, open %+v of %+v", s.ReadBytesTotal, s.Descriptors, s.DescriptorsLimit)
	}
	if !s.CPUSecondsTotal.Seen() || !s.RunWaitSecondsTotal.Seen() || !s.BlockedThreads.Seen() {
		t.Errorf("what anybody may see: %+v", s)
	}
}

// Real processes: children that were there before, one that ends, threads that end.
func TestRealTree(t *testing.T) {
	parent, said, end := child(t, "parent 2")
	if len(said) != 2 {
		t.Fatalf("it said %q", said)
	}
	p := NewProcess("/", fixed(parent))
	defer p.Close()
	s := readProcess(t, p)
	if len(s.Members) != 3 || s.Descriptors.Or(0) < 3 || s.DescriptorsLimit.Or(0) < 3 || s.AllowedCPUs.Or(0) < 1 || s.Threads.Or(0) < 9 || s.BlockedThreads.Or(-1) < 0 {
		t.Errorf("got %+v", s)
	}
	before := s.CPUSecondsTotal.Or(-1)
	first, _ := strconv.Atoi(said[0])
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for len(s.Members) == 3 { // until the kernel has ended it
		s = readProcess(t, p)
	}
	if after := s.CPUSecondsTotal.Or(-1); len(s.Members) != 2 || after < before {
		t.Errorf("%d members, CPU %v after %v", len(s.Members), after, before)
	}
	end()
	if section, err := p.Read(context.Background()); err == nil {
		t.Errorf("after its end: %+v", section)
	}
}

func TestRealThreadsEnd(t *testing.T) {
	const threads = 20
	p := NewProcess("/", fixed(os.Getpid()))
	defer p.Close()
	begin := readProcess(t, p).RunWaitSecondsTotal.Or(-1)
	release := hold(threads)
	during := readProcess(t, p)
	release()
	for during.Threads.Or(0)-readProcess(t, p).Threads.Or(0) < threads/2 { // until the kernel has ended them
	}
	readProcess(t, p) // lists the threads anew
	after := readProcess(t, p)
	if after.RunWaitSecondsTotal.Or(-1) < during.RunWaitSecondsTotal.Or(-1) || during.RunWaitSecondsTotal.Or(-1) < begin {
		t.Errorf("waited %v, %v, %v", begin, during.RunWaitSecondsTotal, after.RunWaitSecondsTotal)
	}
	if known := len(p.members[0].threads.list); known > int(after.Threads.Or(0))+threads/2 {
		t.Errorf("%d threads known of %v", known, after.Threads)
	}
}

// Close gives all files back.
func TestProcessCloses(t *testing.T) {
	p := NewProcess("/", fixed(os.Getpid()))
	room := p.files.room
	readProcess(t, p)
	if p.files.room >= room {
		t.Error("no file is kept open")
	}
	p.Close()
	if p.files.room != room {
		t.Errorf("room for %d files of %d", p.files.room, room)
	}
}
