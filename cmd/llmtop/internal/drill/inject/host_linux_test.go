package inject

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestCPUQuota(t *testing.T) {
	s := standIn(t, busyScript)
	made, err := New("cpu-quota", map[string]string{"cores": "0.2"})
	if err != nil {
		t.Fatal(err)
	}
	q := made.(*cpuQuota)
	before := membership(t, s.Engine.PID())
	err = q.Start(t.Context(), s)
	defer q.Stop()
	skipLacking(t, err)
	dir := q.group.dir
	if membership(t, s.Engine.PID()) == before {
		t.Error("the process is in no other group")
	}
	until(t, "throttled", func() bool { return q.group.read("cpu.stat", "nr_throttled") >= 5 })
	for range 2 {
		if err := q.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Confirm(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) || membership(t, s.Engine.PID()) != before {
		t.Errorf("the group is left, or the process is not back: %v", err)
	}
}

// A process that has ended does not keep its group.
func TestCPUQuotaOfTheDead(t *testing.T) {
	s := standIn(t, busyScript)
	q := &cpuQuota{cores: 0.5}
	err := q.Start(t.Context(), s)
	skipLacking(t, err)
	dir := q.group.dir
	s.Engine.Stop()
	if err := q.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("the group is left")
	}
}

func membership(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestNeighbours(t *testing.T) {
	s := standIn(t, busyScript)
	made, err := New("neighbours", map[string]string{"per_core": "0.25"})
	if err != nil {
		t.Fatal(err)
	}
	n := made.(*neighbours)
	if n.Confirm() == nil {
		t.Error("confirmed before it began")
	}
	if err := n.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	until(t, "a busy neighbour", func() bool { return cpuOf(n.processes[0].PID()) >= 50*time.Millisecond })
	for range 2 {
		if err := n.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range n.processes {
		if startOf("/", c.PID()) != "0" {
			t.Error("a neighbour is left")
		}
	}
	if n.cpu < 50*time.Millisecond {
		t.Errorf("the neighbours had %s", n.cpu)
	}
	n.cpu, n.lasted = time.Second, time.Second
	if err := n.Confirm(); err != nil {
		t.Error(err)
	}
}

// TestPageOut takes the pages of a file away from this very process.
func TestPageOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weights")
	if err := os.WriteFile(path, []byte(strings.Repeat("weights ", 1<<17)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, 1<<20, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(data)
	touch := func() (sum int) {
		for i := 0; i < len(data); i += 4096 {
			sum += int(data[i])
		}
		return sum
	}
	want := touch()
	spans, err := mapped(os.Getpid(), path)
	if err != nil || len(spans) != 1 || spans[0].to-spans[0].from != 1<<20 {
		t.Fatalf("mapped at %v, %v", spans, err)
	}
	if _, err := deviceOf(path); err != nil {
		t.Skip(err)
	}
	if before := resident(t, path); before == 0 {
		t.Fatal("what was touched is not there")
	}
	skipLacking(t, pageOut(os.Getpid(), spans))
	if after := resident(t, path); after != 0 {
		t.Errorf("%d kB are left", after)
	}
	if got := touch(); got != want || resident(t, path) == 0 {
		t.Errorf("read %d again, want %d", got, want)
	}
	if _, err := mapped(os.Getpid(), path+"x"); err == nil {
		t.Error("a file is mapped that is not there")
	}
}

// resident is how much of a file this process has mapped and in memory, in kB.
func resident(t *testing.T, path string) (kB int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(b), path+"\n")
	_, after, _ = strings.Cut(after, "\nRss:")
	text, _, _ := strings.Cut(after, "kB")
	if kB, err = strconv.Atoi(strings.TrimSpace(text)); err != nil {
		t.Fatal(err)
	}
	return kB
}

func TestRunnable(t *testing.T) {
	s := standIn(t, busyScript)
	until(t, "a thread that runs", func() bool { return runnable(s.Engine.PID()) == 1 })
	c := &crowded{threads: 1000}
	if err := c.begin(s); err != nil {
		t.Fatal(err)
	}
	if err := c.end(); err == nil || !strings.Contains(err.Error(), "threads of the engine") {
		t.Errorf("%v, want that there are too few threads", err)
	}
}
