package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// maxMembers bounds the processes of all engines together.
const maxMembers = 256

// launchers start an engine's server and its workers side by side.
var launchers = []string{"text-generation-launcher"}

// refresh reads the stat of the members that were known, and drops those that ended.
func (p *Process) refresh() {
	for _, m := range p.members {
		m.ended = m.refresh(p.files) != nil
	}
	for _, m := range slices.Backward(p.members) { // children stand behind their parents
		if m.ended {
			m.close(p.files)
			if parent := p.find(m.stat.parent); parent != nil {
				m.bequeath(parent)
			}
		}
	}
	p.members = slices.DeleteFunc(p.members, func(m *member) bool { return m.ended })
}

// roots are the engines' processes, each once.
func (p *Process) roots() (roots []*member, err error) {
	for _, e := range p.engines() {
		if e.PID <= 0 || slices.ContainsFunc(roots, func(m *member) bool { return m.pid == e.PID }) {
			continue
		}
		m, e2 := p.member(e.PID)
		if e2 != nil {
			err = either(err, fmt.Errorf("reading process %d: %w", e.PID, gone(e2)))
			continue
		}
		m.root, m.endpoint = m.identity, e.Endpoint
		roots = append(roots, m)
	}
	if len(roots) > 0 {
		return roots, nil
	}
	return nil, either(err, probes.Lacking(errors.New("the engine's process is not known"))) // on another host, say
}

// either is the first of two errors that is one.
func either(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// member finds a process among the members, or takes it in.
func (p *Process) member(pid int) (*member, error) {
	if m := p.find(pid); m != nil {
		return m, nil
	}
	if len(p.members) >= maxMembers {
		p.many = true
		return nil, errMany
	}
	m := newMember(p.root, pid)
	if err := m.refresh(p.files); err != nil {
		m.close(p.files)
		return nil, err
	}
	p.members = append(p.members, m)
	return m, nil
}

func (p *Process) find(pid int) *member {
	for _, m := range p.members {
		if m.pid == pid {
			return m
		}
	}
	return nil
}

// grow takes in the processes below the roots and beside them, and drops those whose
// root is no more one. A member stays one when its parent ends.
func (p *Process) grow(roots []*member) {
	p.many = false
	for _, m := range p.members { // parents stand before their children
		if parent := p.find(m.stat.parent); parent != nil && !slices.Contains(roots, m) {
			m.root, m.endpoint = parent.root, parent.endpoint
		}
	}
	p.members = slices.DeleteFunc(p.members, func(m *member) bool {
		orphan := !slices.ContainsFunc(roots, func(r *member) bool { return r.identity == m.root })
		if orphan {
			m.close(p.files)
		}
		return orphan
	})
	for _, r := range roots {
		if r.lookedAt == 0 || p.number%slowEvery == 0 {
			for _, pid := range p.siblings(r) {
				p.adopt(r, pid, false)
			}
		}
	}
	for i := 0; i < len(p.members); i++ { // which grows
		m := p.members[i]
		first, others := p.children(m)
		for _, pid := range first {
			p.adopt(m, pid, m.lookedAt > 0 || m.young)
		}
		for _, pid := range others {
			p.adopt(m, pid, false)
		}
		m.lookedAt = p.number
	}
}

// adopt takes in a process of a member's engine. A young one has begun since the pass
// before: all it did counts, while another's past is not this interval's.
func (p *Process) adopt(of *member, pid int, young bool) {
	if pid == os.Getpid() || p.find(pid) != nil {
		return
	}
	m, err := p.member(pid)
	if err != nil {
		return // it has ended
	}
	m.root, m.endpoint, m.young = of.root, of.endpoint, young
}

// children are the processes that a member has started: by its first thread, which is
// asked each time, and by its others, which have their turns. A thread that did not run
// has started nothing.
func (p *Process) children(m *member) (first, others []int) {
	dir := filepath.Join(p.root, "proc", strconv.Itoa(m.pid), "task")
	text, err := p.files.line(&m.children)
	if errors.Is(err, os.ErrNotExist) {
		return nil, p.scanned(m.pid)
	}
	if err != nil {
		return nil, nil // it has ended
	}
	first = numbers(text)
	if m.lookedAt == 0 {
		names, _ := threadNames(dir, maxThreads)
		for _, name := range names {
			others = append(others, p.childrenOf(dir, name)...)
		}
		return first, others
	}
	for i, th := range m.threads.list {
		if th.tid != m.pid && th.asked != th.slices && (i+p.number)%slowEvery == 0 {
			others = append(others, p.childrenOf(dir, strconv.Itoa(th.tid))...)
			th.asked = th.slices
		}
	}
	return first, others
}

func (p *Process) childrenOf(dir, tid string) []int {
	text, err := p.files.whole(dir + "/" + tid + "/children")
	if err != nil {
		return nil
	}
	return numbers(text)
}

// siblings are the processes that belong to a root and are no children of it: Ray's
// actors, and what a launcher has started.
func (p *Process) siblings(r *member) (pids []int) {
	proc := filepath.Join(p.root, "proc")
	actor := strings.HasPrefix(titleOf(proc, r.pid), "ray::")
	launcher := titleOf(proc, r.stat.parent)
	if !actor && !slices.Contains(launchers, launcher) {
		return nil
	}
	dir := filepath.Join(proc, strconv.Itoa(r.stat.parent), "task")
	names, _ := threadNames(dir, maxThreads)
	var all []int
	for _, name := range names {
		all = append(all, p.childrenOf(dir, name)...)
	}
	if len(all) == 0 {
		all = p.scanned(r.stat.parent)
	}
	for _, pid := range all {
		if !actor || strings.HasPrefix(titleOf(proc, pid), "ray::") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// scan is the children of all processes, for kernels that do not list them
// (CONFIG_PROC_CHILDREN). It is dear, so it is done rarely.
type scan struct {
	pass int // in which it was done
	of   map[int][]int
}

// scanned are the children of a process by the newest scan.
func (p *Process) scanned(pid int) []int {
	if p.scan.of == nil || p.number-p.scan.pass >= slowEvery {
		p.scan = scan{p.number, family(filepath.Join(p.root, "proc"))}
	}
	return p.scan.of[pid]
}

// numbers reads "41 42 ", without a last one that was cut off.
func numbers(text []byte) (list []int) {
	text = text[:bytes.LastIndexByte(text, ' ')+1]
	for word := range bytes.FieldsSeq(text) {
		if n, err := strconv.Atoi(string(word)); err == nil && n > 0 {
			list = append(list, n)
		}
	}
	return list
}
