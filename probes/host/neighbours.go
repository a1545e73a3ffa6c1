package host

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"llmtop/probes"
)

const (
	// NeighboursEvery is how often the probe of neighbours is to be read. It looks at them
	// that soon a second time, so that there are rates, and then only every slowly.
	NeighboursEvery = 2 * time.Second

	maxNeighbours = 32768 // processes looked at
)

var errHidden = errors.New("the processes of other users are hidden from this one (hidepid): neighbours are only seen in part")

// Neighbours reads the processes beside the engines'. It is a probes.Probe. What began and
// ended between two looks is not seen, and of names only what the kernel calls a process:
// command lines hold secrets.
type Neighbours struct {
	root    string
	engines func() []int
	looks   int
	next    time.Time
	at      time.Time // of the last look
	newest  uint64    // the latest start among the processes of the last look
	last    map[int]seen
	section *probes.Neighbours
	err     error
}

// seen is what the kernel told of a process. It is the same one as before only when it
// began at the same time: numbers are given anew.
type seen struct {
	stat
	io      float64 // bytes to and from disks, when it was asked for
	ioKnown bool
}

// NewNeighbours returns a probe of the processes below root ("" or "/" for this machine)
// but for llmtop's own and those of the engines, which engines names at each look, with
// all below them.
func NewNeighbours(root string, engines func() []int) *Neighbours {
	return &Neighbours{root: filepath.Clean("/" + root), engines: engines}
}

// Name is "neighbours".
func (n *Neighbours) Name() string { return "neighbours" }

// Read looks at all processes when that is due, and repeats what it saw until then.
func (n *Neighbours) Read(ctx context.Context) (probes.Section, error) {
	now := time.Now()
	if now.Before(n.next) {
		return n.section, n.err
	}
	section, err := n.look(ctx, now)
	if section == nil {
		return nil, err
	}
	n.section, n.err = section, err
	if n.looks++; n.looks > 1 {
		n.next = now.Add(slowly)
	}
	return section, err
}

// look goes through all processes once and through what stands out of them again.
func (n *Neighbours) look(ctx context.Context, now time.Time) (*probes.Neighbours, error) {
	proc := filepath.Join(n.root, "proc")
	pids, err := processes(proc)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	all, hidden, err := n.scan(ctx, proc, pids[:min(len(pids), maxNeighbours)])
	if err != nil {
		return nil, err
	}
	s := &probes.Neighbours{At: probes.Stamp(now), Partial: hidden}
	if n.last != nil {
		s.SpanSeconds = probes.Seconds(now.Sub(n.at))
	}
	n.tell(s, proc, all)
	n.at, n.last, n.newest = now, all, newestOf(all)
	if s.Partial {
		return s, probes.Lacking(errHidden)
	}
	return s, nil
}

// tell fills in what is told of all processes.
func (n *Neighbours) tell(s *probes.Neighbours, proc string, all map[int]seen) {
	roots := n.engines()
	engines, own := newKin(all, roots), newKin(all, selfIn(proc))
	engines.rayWorkers(proc, roots)
	memory, err := read(filepath.Join(n.root, "proc/meminfo"), nil)
	total := keyed(memory, err, "MemTotal", 1024)
	c := crowd{
		before: n, proc: proc, span: s.SpanSeconds, all: all, engine: engines.allowed(proc, roots),
		large: leastMemory * total.Or(math.Inf(1)), users: users{path: filepath.Join(n.root, "etc/passwd")},
	}
	for pid, p := range all {
		if !engines.has(pid) && !own.has(pid) {
			s.Processes++
			c.consider(pid, p)
		}
	}
	s.List = c.heaviest()
}

// selfIn is llmtop's own number as this /proc has it, none when it does not.
func selfIn(proc string) []int {
	name, err := os.Readlink(proc + "/self")
	if err != nil {
		return nil
	}
	pid, err := strconv.Atoi(name)
	if err != nil {
		return nil
	}
	return []int{pid}
}

// scan reads the stat of each process; hidden when this user may not see one: there is
// always a first process, in a container as well.
func (n *Neighbours) scan(ctx context.Context, proc string, pids []int) (all map[int]seen, hidden bool, err error) {
	all = make(map[int]seen, len(pids))
	buf := make([]byte, 4096)
	hidden = !slices.Contains(pids, 1)
	for i, pid := range pids {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		text, err := readHead(proc+"/"+strconv.Itoa(pid)+"/stat", buf)
		if err != nil {
			hidden = hidden || os.IsPermission(err)
			continue
		}
		if p, ok := parseStat(text); ok && !p.dead() {
			all[pid] = seen{stat: p}
		}
	}
	return all, hidden, nil
}

func newestOf(all map[int]seen) (newest uint64) {
	for _, p := range all {
		newest = max(newest, p.start)
	}
	return newest
}
