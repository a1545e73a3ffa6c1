package host

import (
	"bytes"
	"os"
	"strconv"

	"llmtop/probes"
)

// Bounds of the threads read of one process.
const (
	maxThreads       = 1024
	maxSwitchThreads = 256
	switchesEvery    = 4 // reads; status is dear to make, so each thread's is read in its turn
)

// threads adds up over time what the threads of one process gained.
type threads struct {
	pid   int
	start uint64 // of the process, in ticks: the pid may be given anew
	last  map[string]thread

	wait, busiest        float64 // seconds
	voluntary, preempted float64
	err                  error // of schedstat
	round                int
	many                 bool // more threads than switches are read of
}

// thread is what the kernel counted for one thread.
type thread struct{ run, wait, voluntary, preempted float64 }

// begin turns to a process; it reports whether that is another one than before.
func (t *threads) begin(pid int, start uint64) bool {
	if t.last != nil && t.pid == pid && t.start == start {
		return false
	}
	*t = threads{pid: pid, start: start, last: map[string]thread{}}
	return true
}

// read goes through the threads in dir (/proc/PID/task) and adds what is new.
func (t *threads) read(dir string, buf []byte) []byte {
	names, err := threadNames(dir)
	if err != nil {
		t.err = err
		return buf
	}
	t.many, t.err = len(names) > maxSwitchThreads, nil
	now := make(map[string]thread, len(names))
	busiest := 0.0
	for _, name := range names {
		before := t.last[name]
		th, err := t.thread(dir+"/"+name, name, &before, &buf)
		if err != nil {
			if !os.IsNotExist(err) || len(now) == 0 { // a thread may end while we look
				t.err = err
			}
			continue
		}
		t.err = nil
		now[name] = th
		t.wait += max(0, th.wait-before.wait)
		t.voluntary += max(0, th.voluntary-before.voluntary)
		t.preempted += max(0, th.preempted-before.preempted)
		busiest = max(busiest, th.run-before.run)
	}
	t.busiest += busiest
	t.last = now
	t.round++
	return buf
}

// thread reads one thread. before is what was last known of it; it becomes zero
// when the number has been given to a new thread.
func (t *threads) thread(dir, name string, before *thread, buf *[]byte) (thread, error) {
	th := *before
	if err := th.times(dir, buf); err != nil {
		return th, err
	}
	if th.run < before.run {
		*before, th.voluntary, th.preempted = thread{}, 0, 0
	}
	turn := *before == thread{} || (t.round+int(name[len(name)-1]))%switchesEvery == 0
	if !turn || t.many {
		return th, nil
	}
	return th, th.switches(dir, buf)
}

func threadNames(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(maxThreads)
	if len(names) > 0 {
		return names, nil
	}
	return nil, err
}

// times reads /proc/PID/task/TID/schedstat: nanoseconds on a core, nanoseconds
// waiting for one, time slices.
func (t *thread) times(dir string, buf *[]byte) error {
	text, err := read(dir+"/schedstat", *buf)
	if err != nil {
		return err
	}
	*buf = text
	run, rest, _ := bytes.Cut(text, []byte(" "))
	wait, _, _ := bytes.Cut(rest, []byte(" "))
	t.run, t.wait = seconds(run), seconds(wait)
	return nil
}

// switches reads the context switches in /proc/PID/task/TID/status.
func (t *thread) switches(dir string, buf *[]byte) error {
	text, err := read(dir+"/status", *buf)
	if err != nil {
		return err
	}
	*buf = text
	t.voluntary, _ = value(text, "voluntary_ctxt_switches")
	t.preempted, _ = value(text, "nonvoluntary_ctxt_switches")
	return nil
}

func seconds(nanoseconds []byte) float64 {
	v, _ := strconv.ParseFloat(string(nanoseconds), 64)
	return v / 1e9
}

// fill writes the totals into a section. BusiestThreadSecs grows by what the
// busiest thread of each interval ran, so its rate is that thread's use of a core.
func (t *threads) fill(s *probes.Process) {
	if t.err != nil {
		none := probes.None[float64](why(t.err))
		s.RunWaitSecondsTotal, s.BusiestThreadSecs, s.VoluntarySwitchesTotal, s.PreemptedSwitchesTotal = none, none, none, none
		return
	}
	s.RunWaitSecondsTotal = probes.Some(t.wait)
	s.BusiestThreadSecs = probes.Some(t.busiest)
	s.VoluntarySwitchesTotal, s.PreemptedSwitchesTotal = probes.Some(t.voluntary), probes.Some(t.preempted)
	if t.many {
		s.VoluntarySwitchesTotal, s.PreemptedSwitchesTotal = probes.None[float64](probes.Unsupported), probes.None[float64](probes.Unsupported)
	}
}
