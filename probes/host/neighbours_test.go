package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

// inhabitant is a process of a tree.
type inhabitant struct {
	pid, parent int
	name        string // "" is "x"
	state       string // "" is S
	ticks       int    // of CPU
	start       int    // 0 is 100
	rss         int    // pages
	uid         int
	allowed     string // "" is 0-7
	io          int    // bytes read; −1: not to be seen
	cgroup      string
}

func settle(t testing.TB, root string, list ...inhabitant) {
	t.Helper()
	or := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	for _, p := range list {
		if p.start == 0 {
			p.start = 100
		}
		dir := fmt.Sprintf("proc/%d/", p.pid)
		put(t, root, dir+"stat", fmt.Sprintf("%d (%s) %s %d 1 1 0 -1 0 0 0 0 0 %d %d 0 0 20 0 1 0 %d 1000 %d 18446744073709551615\n",
			p.pid, or(p.name, "x"), or(p.state, "S"), p.parent, p.ticks-p.ticks/4, p.ticks/4, p.start, p.rss))
		put(t, root, dir+"status", fmt.Sprintf("Name:\tx\nUid:\t%d\t0\t0\t0\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\n", p.uid, or(p.allowed, "0-7")))
		if p.io >= 0 {
			put(t, root, dir+"io", fmt.Sprintf("rchar: 999\nwchar: 999\nread_bytes: %d\nwrite_bytes: 0\ncancelled_write_bytes: 0\n", p.io))
		}
		if p.cgroup != "" {
			put(t, root, dir+"cgroup", p.cgroup)
		}
	}
}

// town is a machine of 1000 pages (of 4 KiB, whatever this one's are) with an engine, 42,
// on cores 0 to 3.
func town(t testing.TB) string {
	root := t.TempDir()
	put(t, root, "proc/meminfo", fmt.Sprintf("MemTotal: %d kB\n", 1000*os.Getpagesize()/1024))
	put(t, root, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\nbad line\nann\x1b[1m:x:1000:1000::/:\n")
	settle(t, root, inhabitant{pid: 1, name: "init"}, inhabitant{pid: 42, parent: 1, name: "engine", allowed: "0-1"},
		inhabitant{pid: 43, parent: 42, name: "worker", allowed: "2-3"})
	return root
}

func neighbours(t *testing.T, n *Neighbours) *probes.Neighbours {
	t.Helper()
	section, err := n.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return section.(*probes.Neighbours)
}

func theEngine() []int { return []int{42} }

func TestNeighbours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := town(t)
		put(t, root, "sys/fs/cgroup/batch/cpu.weight", "300\n")
		backup := inhabitant{pid: 50, parent: 1, name: "backup", ticks: 1000, uid: 1000, allowed: "4-7", cgroup: "0::/batch/job\n"}
		train := inhabitant{pid: 51, parent: 1, name: "train", ticks: 5000, uid: 7, allowed: "0-7", io: 4096}
		helper := inhabitant{pid: 44, parent: 43, name: "helper", ticks: 10, allowed: "0-3"}
		settle(t, root, backup, train, helper, inhabitant{pid: 60, parent: 1, name: "database", rss: 200})
		n := NewNeighbours(root, theEngine)

		s := neighbours(t, n)
		if s.Processes != 4 || s.SpanSeconds != 0 || s.Partial || len(s.List) != 1 { // init, backup, train, database
			t.Fatalf("first look: %+v", s)
		}
		if d := s.List[0]; d.Name != "database" || d.CPUCores.Seen() || d.RSSBytes.Or(0) != float64(200*os.Getpagesize()) {
			t.Errorf("the one that is large: %+v", d)
		}

		<-time.After(NeighboursEvery)
		backup.ticks += 400 // 2 cores in 2 s
		backup.io = 6 << 20
		train.ticks += 200 // 1 core
		train.io += 4 << 20
		train.state = "D"
		helper.ticks += 900
		settle(t, root, backup, train, helper,
			inhabitant{pid: 70, parent: 1, name: "fresh", ticks: 100, start: 101, io: 8 << 20}, // began since: half a core
			inhabitant{pid: 71, parent: 1, name: "hidden before", ticks: 9000, start: 99},
			inhabitant{pid: 72, parent: 1, name: "idle", ticks: 0})
		s = neighbours(t, n)
		if s.SpanSeconds != 2 || s.Processes != 7 {
			t.Errorf("second look: %+v", s)
		}
		want := []probes.Neighbour{
			// train and fresh run half on the engine's cores, backup not at all
			{PID: 51, Name: "train", User: "7", CPUCores: made(1), SharedCPUs: made(4), Blocked: true, RSSBytes: made(0), CgroupWeight: notExposed},
			{PID: 70, Name: "fresh", User: "root", CPUCores: made(0.5), SharedCPUs: made(4), IOBytesPerS: made(4 << 20), RSSBytes: made(0), CgroupWeight: notExposed},
			{PID: 50, Name: "backup", User: "ann[1m", CPUCores: made(2), SharedCPUs: made(0), RSSBytes: made(0), CgroupWeight: made(300)},
			{PID: 60, Name: "database", User: "root", CPUCores: made(0), SharedCPUs: made(4), RSSBytes: made(float64(200 * os.Getpagesize())), IOBytesPerS: made(0), CgroupWeight: notExposed},
		}
		if !slices.Equal(s.List, want) {
			t.Errorf("got  %+v\nwant %+v", s.List, want)
		}

		<-time.After(slowly)
		train.io += 40 << 20
		train.ticks, train.state = train.ticks+500, ""
		backup.start, backup.ticks = 2000, 100 // another process by its number
		settle(t, root, train, backup)
		remove(t, root, "proc/70")
		s = neighbours(t, n)
		if len(s.List) != 3 || s.SpanSeconds != 10 {
			t.Fatalf("third look: %+v", s)
		}
		if got := s.List[0]; got.Name != "train" || got.CPUCores != made(0.5) || got.IOBytesPerS != made(4<<20) || got.Blocked {
			t.Errorf("train: %+v", got)
		}
		if got := s.List[1]; got.Name != "backup" || got.CPUCores != made(0.1) {
			t.Errorf("the new one: %+v", got)
		}
	})
}

// It looks twice at first and then every ten seconds; in between it repeats what it saw.
func TestNeighboursPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNeighbours(town(t), theEngine)
		began := time.Now()
		var looks []time.Duration
		for range 14 {
			s := neighbours(t, n)
			if at := s.At.Sub(began); len(looks) == 0 || at != looks[len(looks)-1] {
				looks = append(looks, at)
			}
			<-time.After(NeighboursEvery)
		}
		if want := []time.Duration{0, 2 * time.Second, 12 * time.Second, 22 * time.Second}; !slices.Equal(looks, want) {
			t.Errorf("looked at %v, want %v", looks, want)
		}
	})
}

// Only eight are told of a hundred; those on the engine's cores come first, however busy
// the others are.
func TestManyNeighbours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := town(t)
		n := NewNeighbours(root, theEngine)
		crowd := func(ticks int) {
			for i := range 100 {
				p := inhabitant{pid: 100 + i, parent: 1, ticks: ticks * (i + 1), allowed: "4-7"}
				if i%10 == 9 {
					p.allowed = "3-4"
				}
				settle(t, root, p)
			}
		}
		crowd(1)
		neighbours(t, n)
		<-time.After(NeighboursEvery)
		crowd(3)
		s := neighbours(t, n)
		var pids []int
		for _, p := range s.List {
			pids = append(pids, p.PID)
		}
		if want := []int{199, 189, 179, 198, 197, 196, 195, 194}; !slices.Equal(pids, want) {
			t.Errorf("told are %v, want %v", pids, want)
		}
	})
}

// Without an engine nobody shares its cores.
func TestNeighboursOfNobody(t *testing.T) {
	root := town(t)
	settle(t, root, inhabitant{pid: 60, parent: 1, rss: 900})
	s := neighbours(t, NewNeighbours(root, func() []int { return nil }))
	if s.Processes != 4 || len(s.List) != 1 || s.List[0].SharedCPUs.Seen() {
		t.Errorf("%+v", s)
	}
}

// With hidepid=2 a user sees the processes of the others not at all, with hidepid=1 only
// that they are there: what is seen is told, and that it is not all.
func TestHiddenNeighbours(t *testing.T) {
	partial := func(root string) {
		t.Helper()
		section, err := NewNeighbours(root, theEngine).Read(context.Background())
		if s, ok := section.(*probes.Neighbours); !ok || !s.Partial || s.Processes == 0 || !errors.Is(err, errHidden) || !probes.IsLacking(err) {
			t.Errorf("%+v, %v", section, err)
		}
	}
	root := town(t)
	settle(t, root, inhabitant{pid: 50, parent: 1})
	if os.Geteuid() != 0 { // root may read all
		path := filepath.Join(root, "proc/1/stat")
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		partial(root)
	}
	remove(t, root, "proc/1")
	partial(root)
}

func TestNeighboursThatKeepTheirIOToThemselves(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read all")
	}
	root := town(t)
	settle(t, root, inhabitant{pid: 60, parent: 1, rss: 900})
	if err := os.Chmod(filepath.Join(root, "proc/60/io"), 0); err != nil {
		t.Fatal(err)
	}
	if s := neighbours(t, NewNeighbours(root, theEngine)); len(s.List) != 1 || s.List[0].IOBytesPerS != noPermission {
		t.Errorf("%+v", s)
	}
}

func TestGarbledNeighbours(t *testing.T) {
	root := town(t)
	settle(t, root, inhabitant{pid: 60, parent: 1, name: "a) R 1 (\x1b[31mb\n", rss: 900, allowed: "x", io: -1})
	for pid, text := range map[int]string{61: "", 62: "61 (x", 63: "63 (x) S", 64: "64 (x) S a b c d e f g h i j k l m n o p q r s t u v w x\n", 65: "65 (z) Z" + strings.Repeat(" 1", 40) + "\n"} {
		put(t, root, fmt.Sprintf("proc/%d/stat", pid), text)
	}
	put(t, root, "proc/60/cgroup", "0::/../../etc\nx\n")
	s := neighbours(t, NewNeighbours(root, theEngine))
	if s.Processes != 2 || len(s.List) != 1 {
		t.Fatalf("%+v", s)
	}
	if p := s.List[0]; p.Name != "a) R 1 ([31mb" || p.SharedCPUs.Seen() || p.IOBytesPerS != notExposed || p.CgroupWeight != notExposed {
		t.Errorf("%+v", p)
	}
}

func TestNeighboursWithoutProc(t *testing.T) {
	if section, err := NewNeighbours(t.TempDir(), theEngine).Read(context.Background()); section != nil || err == nil || !strings.HasPrefix(err.Error(), "listing processes: ") {
		t.Errorf("%+v, %v", section, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if section, err := NewNeighbours(town(t), theEngine).Read(ended); section != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %+v, %v", section, err)
	}
}

func TestThisMachinesNeighbours(t *testing.T) {
	n := NewNeighbours("/", func() []int { return nil })
	section, err := n.Read(context.Background())
	s, ok := section.(*probes.Neighbours)
	if !ok || err != nil && !probes.IsLacking(err) || s.Partial != (err != nil) {
		t.Fatalf("%+v, %v", section, err)
	}
	if _, seen := n.last[os.Getpid()]; !seen || s.Processes >= len(n.last) {
		t.Errorf("%d neighbours among %d processes", s.Processes, len(n.last))
	}
}

func TestKin(t *testing.T) {
	child := func(of int) seen { return seen{stat: stat{parent: of}} }
	all := map[int]seen{1: {}, 2: child(1), 3: child(2), 4: child(3), 5: child(1), 6: child(99), 7: child(8), 8: child(7), 9: child(9)}
	f := newKin(all, []int{2, 77})
	for pid, want := range map[int]bool{1: false, 2: true, 3: true, 4: true, 5: false, 6: false, 7: false, 8: false, 9: false, 77: true, 100: false} {
		if got := f.has(pid); got != want || f.has(pid) != want {
			t.Errorf("%d: %v", pid, got)
		}
	}
}

// Ray's actors are the engine's when the one that listens is one.
func TestKinOfRay(t *testing.T) {
	root := town(t)
	settle(t, root, inhabitant{pid: 80, parent: 1}, inhabitant{pid: 81, parent: 80}, inhabitant{pid: 82, parent: 80}, inhabitant{pid: 83, parent: 80}, inhabitant{pid: 84, parent: 82})
	for pid, title := range map[int]string{81: "ray::ServeReplica", 82: "ray::RayWorkerWrapper", 83: "/usr/bin/raylet"} {
		put(t, root, fmt.Sprintf("proc/%d/cmdline", pid), title+"\x00")
	}
	s := neighbours(t, NewNeighbours(root, func() []int { return []int{81, 42} }))
	if s.Processes != 3 { // init, 80 and 83
		t.Errorf("%+v", s)
	}
}

func TestWeight(t *testing.T) {
	root := t.TempDir()
	put(t, root, "sys/fs/cgroup/cpu/job/cpu.shares", "512\n")
	put(t, root, "sys/fs/cgroup/cpu/cpu.shares", "1024\n")
	put(t, root, "sys/fs/cgroup/a/cpu.weight", "50\n")
	for membership, want := range map[string]probes.Opt[float64]{
		"4:cpu,cpuacct:/job\n0::/x\n": made(512), "1:cpu:/job/deep\n": made(512), "1:cpu:/\n": made(1024), "0::/a/b/c\n": made(50), "0::/b\n": notExposed, "": notExposed,
	} {
		put(t, root, "proc/5/cgroup", membership)
		if got := weight(root, filepath.Join(root, "proc/5")); got != want {
			t.Errorf("%q: %v, want %v", membership, got, want)
		}
	}
	if got := weight(root, filepath.Join(root, "proc/6")); got != notExposed {
		t.Errorf("of none: %v", got)
	}
}
