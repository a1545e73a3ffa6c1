package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Threads in uninterruptible sleep are counted, and for how long they are.
func TestBlockedThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		m.living(100, 1, "vllm", 10, 10)
		m.children(100, "")
		p := NewProcess(m.root, fixed(100))
		defer p.Close()
		state := func(s string, slices int) {
			m.put("100/task/100/stat", "100 (a) D 1 (b) "+s+" 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 10 0 100 0\n")
			m.put("100/task/100/schedstat", fmt.Sprintf("100000000 0 %d\n", slices))
		}
		for i, c := range []struct {
			state            string
			slices           int
			blocked, seconds float64
		}{
			{"S", 1, 0, 0},
			{"D", 2, 1, 0},
			{"D", 2, 1, 1},
			{"D", 3, 1, 2}, // it ran, and waits again
			{"R", 4, 0, 2},
			{"D", 4, 1, 2}, // it was on a core until then: it need not be put on one to leave it
			{"D", 5, 1, 3},
			{"D", 5, 1, 4},
			{"R", 6, 0, 4},
			{"R", 6, 0, 4},
			{"S", 6, 0, 4},
			{"D", 6, 0, 4}, // that cannot be: who sleeps has to run before it waits for a disk
		} {
			state(c.state, c.slices)
			s := readProcess(t, p)
			if s.BlockedThreads.Or(-1) != c.blocked || s.BlockedSecondsTotal.Or(-1) != c.seconds || s.Members[0].BlockedThreads.Or(-1) != c.blocked {
				t.Errorf("%d: blocked %+v for %+v s, want %v, %v", i, s.BlockedThreads, s.BlockedSecondsTotal, c.blocked, c.seconds)
			}
			time.Sleep(time.Second)
		}
	})
}

// In each pass the states and switches of only so many threads are read; all have their turn.
func TestGlancesHaveTurns(t *testing.T) {
	m := newMachine(t)
	const threads = 3 * maxGlances
	put := func(tid, n int) {
		m.put(fmt.Sprintf("100/task/%d/schedstat", tid), fmt.Sprintf("%d 0 %d\n", n, n))
		m.put(fmt.Sprintf("100/task/%d/status", tid), fmt.Sprintf("voluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t0\n", n))
		m.put(fmt.Sprintf("100/task/%d/stat", tid), "no stat")
	}
	m.living(100, 1, "vllm", 0, 10)
	m.put("100/stat", strings.Replace("100 (vllm) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 N 0 10 0 100 0\n", "N", strconv.Itoa(threads+1), 1))
	for tid := range threads {
		put(1000+tid, 1)
	}
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	if got := readProcess(t, p).VoluntarySwitchesTotal.Or(-1); got != threads {
		t.Errorf("%v switches at first, want %d", got, threads)
	}
	for tid := range threads {
		put(1000+tid, 11)
	}
	for pass := 1; pass <= 4; pass++ {
		want := float64(threads + 10*min(pass*maxGlances, threads))
		if got := readProcess(t, p).VoluntarySwitchesTotal.Or(-1); got != want {
			t.Errorf("pass %d: %v switches, want %v", pass, got, want)
		}
	}
}

// A thread that does not run is looked at now and then; what it did meanwhile is spread.
func TestIdleThreadsRest(t *testing.T) {
	m := newMachine(t)
	m.living(100, 1, "vllm", 0, 10)
	m.children(100, "")
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	reads := 0
	for range restAfter + 2*restEvery {
		readProcess(t, p)
		if p.members[0].threads.list[0].readAt == p.number {
			reads++
		}
	}
	if reads != restAfter+2 {
		t.Errorf("read %d times, want %d", reads, restAfter+2)
	}
	m.put("100/task/100/schedstat", "4000000000 1000000000 9\n")
	var got []string
	for range restEvery + 1 {
		s := readProcess(t, p)
		got = append(got, fmt.Sprintf("%.0f/%.0f", s.BusiestThreadSecs.Or(-1), s.RunWaitSecondsTotal.Or(-1)))
	}
	slices.Sort(got)
	if got := slices.Compact(got); !slices.Equal(got, []string{"0/0", "1/1"}) {
		t.Errorf("busiest and waited %v", got)
	}
}

// A thread with a core to itself is put on it once and never again: it does not rest.
func TestThreadThatIsNeverPreempted(t *testing.T) {
	m := newMachine(t)
	m.living(100, 1, "vllm", 0, 10)
	m.children(100, "")
	p := NewProcess(m.root, fixed(100))
	defer p.Close()
	for i := range 2*restAfter + restEvery {
		m.put("100/task/100/schedstat", fmt.Sprintf("%d000000000 0 1\n", i))
		m.put("100/task/100/stat", "100 (vllm) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 10 0 100 0\n")
		s := readProcess(t, p)
		if got := s.BusiestThreadSecs.Or(-1); got != float64(i) {
			t.Fatalf("pass %d: the busiest thread ran %v s, want %d", i, got, i)
		}
		if i > 0 && (len(s.BusyThreads) != 1 || s.BusyThreads[0].State != "R") {
			t.Fatalf("pass %d: busy threads %+v", i, s.BusyThreads)
		}
	}
}
