package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"llmtop/probes"
)

// maxThreads bounds the threads read at a time, of all members together.
const maxThreads = 2048

// A thread that did not run for restAfter passes is read in every restEvery-th one until it
// runs again: most of an engine's hundreds of threads never do.
const (
	restAfter = 10
	restEvery = 4
)

// threads are those of one process. The kernel counts waiting and switches per thread
// and forgets threads that ended, so a plain sum over threads would fall: what each
// thread gained between two reads is added up.
type threads struct {
	dir    string // /proc/PID/task
	list   []*thread
	relist bool // one has ended since the directory was read
	many   bool // some had no place
	err    error
}

// thread is what was last read of one. While it is not put on a core, its name, state and
// switches stay what they are: only those of threads that ran are read again.
type thread struct {
	tid       int
	sched     kept
	run, wait float64 // seconds
	slices    uint64  // how often it was put on a core
	ran       float64 // seconds, since the pass before
	since     int     // the pass in which it was first read, 0: not yet
	readAt    int     // the pass in which it was last read
	ranAt     int     // the pass in which it had run when it was read

	name, state          string
	stated               uint64 // slices when these two were read
	statedAt             int    // the pass in which they were, 0: never
	voluntary, preempted float64
	switched             uint64
	switchedAt           int
	blocked              bool
	asked                uint64 // slices when it was asked for the processes it started
}

// read reads the run and wait times of a process's threads, of which it has count, and
// returns for how long they waited since the pass before. Threads without a place are left out.
func (t *threads) read(p *pass, count int) (waited float64) {
	if t.relist || len(t.list) != count && (!t.many || p.number%slowEvery == 0) {
		t.find(p)
	} else {
		p.threads -= len(t.list)
	}
	if t.list == nil {
		return 0
	}
	t.err = nil
	alive, failed := t.list[:0], error(nil)
	for _, th := range t.list {
		if th.rests(p) {
			th.ran = 0
			alive = append(alive, th)
			continue
		}
		before := *th
		if err := th.times(p.files); err != nil { // it has ended, as a rule
			p.files.close(&th.sched)
			t.relist, failed = true, err
			continue
		}
		alive = append(alive, th)
		if th.run < before.run { // its number was given to another one
			before = thread{}
			*th = thread{tid: th.tid, sched: th.sched, run: th.run, wait: th.wait, slices: th.slices}
		}
		th.ran = (th.run - before.run) / float64(max(1, p.number-before.readAt))
		if th.since == 0 {
			th.since, th.ran = p.number, th.run
		}
		if th.since == p.number && t.many {
			th.ran = 0 // it may be an old one
		}
		// With a core to itself it runs on and is never put on one.
		if th.readAt = p.number; th.slices != before.slices || th.run != before.run || th.since == p.number {
			th.ranAt = p.number
		}
		waited += max(0, th.wait-before.wait)
	}
	clear(t.list[len(alive):])
	t.list = alive
	switch {
	case t.many:
		t.err = errMany
	case len(alive) == 0:
		t.err = failed
	}
	return waited
}

// rests reports a thread that is left out in this pass. One that is blocked never rests.
func (t *thread) rests(p *pass) bool {
	return t.since > 0 && p.number-t.ranAt >= restAfter && t.state != "D" && (p.number+t.tid)%restEvery != 0
}

// errMany is the reason of a sum over more than is looked at.
var errMany = errors.New("more than are looked at")

// find lists the threads, and keeps those that are known.
func (t *threads) find(p *pass) {
	names, err := threadNames(t.dir, maxThreads+1)
	if err != nil {
		t.close(p.files)
		t.err = err
		return
	}
	known := make(map[int]*thread, len(t.list))
	for _, th := range t.list {
		known[th.tid] = th
	}
	list := make([]*thread, 0, len(names))
	t.many, t.relist = false, false
	room := p.room()
	for _, name := range names {
		tid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		th := known[tid]
		if th == nil {
			th = &thread{tid: tid, sched: kept{path: t.dir + "/" + name + "/schedstat"}}
		}
		if len(list) >= room {
			t.many = true
			break
		}
		p.threads--
		delete(known, tid)
		list = append(list, th)
	}
	for _, th := range known {
		p.files.close(&th.sched)
	}
	t.list = list
}

// room is for how many threads of a process there is room. A server may have thousands: some
// are left for each process that comes after it, such as the one that schedules.
func (p *pass) room() int {
	others := maxThreads / 2 / (p.behind + 1)
	return max(p.threads-others*p.behind, min(p.threads, others))
}

func (t *threads) close(r *reader) {
	for _, th := range t.list {
		r.close(&th.sched)
	}
	t.list = nil
}

func threadNames(dir string, most int) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(most)
	if len(names) > 0 {
		return names, nil
	}
	return nil, err
}

// times reads /proc/PID/task/TID/schedstat: nanoseconds on a core, nanoseconds
// waiting for one, time slices.
func (t *thread) times(r *reader) error {
	text, err := r.line(&t.sched)
	if err != nil {
		return err
	}
	run, rest, _ := bytes.Cut(text, []byte(" "))
	wait, slices, _ := bytes.Cut(rest, []byte(" "))
	n, err := strconv.ParseUint(string(bytes.TrimSpace(slices)), 10, 64)
	if err != nil {
		return fmt.Errorf("reading %s: %w", t.sched.path, syscall.ESRCH)
	}
	t.run, t.wait, t.slices = seconds(run), seconds(wait), n
	return nil
}

// look reads its name and state.
func (t *thread) look(p *pass, dir string) {
	text, err := p.files.whole(dir + "/" + strconv.Itoa(t.tid) + "/stat")
	if err != nil {
		return
	}
	if s, ok := parseStat(text); ok {
		t.name, t.state, t.stated, t.statedAt = statName(text), string(rune(s.state)), t.slices, p.number
	}
}

// looked reports whether its state is the one of now. One that was on a core, or ready for
// one, leaves it for any other state without being put on one again.
func (t *thread) looked() bool { return t.statedAt > 0 && t.stated == t.slices && t.state != "R" }

// switches reads its context switches in /proc/PID/task/TID/status, and returns what
// they grew by since they were last read.
func (t *thread) switches(p *pass, dir string) (voluntary, preempted float64) {
	text, err := p.files.whole(dir + "/" + strconv.Itoa(t.tid) + "/status")
	if err != nil {
		return 0, 0
	}
	v, _ := value(text, "voluntary_ctxt_switches")
	n, _ := value(text, "nonvoluntary_ctxt_switches")
	voluntary, preempted = max(0, v-t.voluntary), max(0, n-t.preempted)
	t.voluntary, t.preempted, t.switched, t.switchedAt = v, n, t.slices, p.number
	return voluntary, preempted
}

func seconds(nanoseconds []byte) float64 {
	v, _ := strconv.ParseFloat(string(nanoseconds), 64)
	return v / 1e9
}

// section is how a thread is told.
func (t *thread) section(pid int) probes.Thread {
	return probes.Thread{PID: pid, TID: t.tid, Name: t.name, State: t.state, CPUSecondsTotal: probes.Some(t.run), RunWaitSecondsTotal: probes.Some(t.wait)}
}
