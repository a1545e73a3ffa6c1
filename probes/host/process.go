package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"llmtop/probes"
)

// Engine is the process of an engine that listens.
type Engine struct {
	PID      int
	Endpoint string // as the engine is called
	Addr     string // on which it listens, as PIDOf takes it
}

// Process reads the engines' trees of processes. It is a probes.Probe.
//
// Its totals only grow: what each member and each thread gained between two reads is
// added up, since the kernel forgets those that end.
type Process struct {
	root    string
	engines func() []Engine

	pass
	at      time.Time // of the pass before
	main    identity  // the first engine's process: with another one all begins anew
	started time.Time // of that
	members []*member // roots first
	many    bool      // some had no place
	scan    scan
	sum     counters
	busiest float64 // seconds
	blocked float64 // seconds
	groups  groups
	cores   cores
}

// identity is a process in time: its number may be given to another one.
type identity struct {
	pid   int
	start uint64
}

// counters are what is summed over members.
type counters struct{ cpu, wait, voluntary, preempted, faults, read, write float64 }

func (c *counters) add(d counters) {
	c.cpu += d.cpu
	c.wait += d.wait
	c.voluntary += d.voluntary
	c.preempted += d.preempted
	c.faults += d.faults
	c.read += d.read
	c.write += d.write
}

// pass is one reading of everything.
type pass struct {
	files   *reader
	number  int     // from 1
	seconds float64 // since the one before, 0 for the first
	threads int     // that may still be read
	behind  int     // members that are still to be read
}

// slowEvery is how many passes lie between two looks at what changes rarely. Members
// have their turns, so that no pass is much dearer than the others.
const slowEvery = 10

// NewProcess returns a probe of the engines that are named at each read, below root
// ("" or "/" for this machine). The first one is who the section is called after.
func NewProcess(root string, engines func() []Engine) *Process {
	root = filepath.Clean("/" + root)
	return &Process{root: root, engines: engines, pass: pass{files: newReader()}, cores: newCores(root)}
}

// Name is "process".
func (p *Process) Name() string { return "process" }

// Close gives the open files back.
func (p *Process) Close() error {
	p.forget()
	return nil
}

// Read reads the trees. Engines of which no process is known, or there is none any more,
// are left out; when that leaves nobody, it is an error.
func (p *Process) Read(context.Context) (probes.Section, error) {
	p.refresh()
	roots, err := p.roots()
	if err == nil && roots[0].identity != p.main {
		p.forget()
		roots, err = p.roots()
	}
	if err != nil {
		return nil, err
	}
	p.begin(roots[0])
	p.grow(roots)
	s := &probes.Process{At: probes.Stamp(p.at), PID: p.main.pid, Name: roots[0].name, StartedAt: p.started}
	p.count()
	p.glance(s)
	p.fill(s)
	p.groups.read(&p.pass, p.root, p.members, s)
	p.cores.read(&p.pass, p.members, s)
	return s, nil
}

// begin starts a pass, of which the first process is main.
func (p *Process) begin(main *member) {
	now := time.Now()
	p.number++
	p.threads, p.seconds = maxThreads, now.Sub(p.at).Seconds()
	p.at = now
	if p.number == 1 {
		p.seconds, p.main, p.started = 0, main.identity, startedAt(p.root, main.start)
	}
}

// forget begins anew.
func (p *Process) forget() {
	for _, m := range p.members {
		m.close(p.files)
	}
	p.groups.close(p.files)
	*p = Process{root: p.root, engines: p.engines, pass: pass{files: p.files}, cores: newCores(p.root)}
}

// startedAt is when a process started, from the clock ticks after boot.
func startedAt(root string, ticks uint64) time.Time {
	text, err := read(filepath.Join(root, "proc/stat"), nil)
	if err != nil {
		return time.Time{}
	}
	boot, ok := value(text, "btime")
	if !ok {
		return time.Time{}
	}
	return probes.Stamp(time.Unix(0, int64((boot+float64(ticks)/userHZ)*1e9)))
}

var errGone = errors.New("there is no such process any more")

// gone puts the usual reason into words.
func gone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return errGone
	}
	return err
}
