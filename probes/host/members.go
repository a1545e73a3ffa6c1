package host

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// member is one process of an engine's tree.
type member struct {
	identity
	root     identity // of its tree
	endpoint string   // of its engine
	dir      string   // /proc/PID
	name     string
	rank     string
	stat     stat
	young    bool // taken in during this pass, right after it began
	since    int  // the pass in which it was first counted, 0: not yet
	lookedAt int  // the pass in which its children were looked for

	statFile, ioFile, children kept
	threads                    threads
	last, total                counters // of the kernel; of llmtop where the kernel counts per thread
	reaped, owed               float64  // seconds; see inherited
	ioErr                      error
	ended                      bool // while it was read
	blocked                    int  // threads

	fds       descriptors
	limit     probes.Opt[float64]
	cpus      string // on which it may run, "0-3,8"
	allowed   cpuSet
	cgroup    string // what /proc/PID/cgroup says
	cgroupErr error
}

func newMember(root string, pid int) *member {
	dir := filepath.Join(root, "proc", strconv.Itoa(pid))
	return &member{identity: identity{pid: pid}, dir: dir, threads: threads{dir: dir + "/task"}, statFile: kept{path: dir + "/stat"},
		ioFile: kept{path: dir + "/io"}, children: kept{path: dir + "/task/" + strconv.Itoa(pid) + "/children"}}
}

// refresh reads what the kernel says of it in one line; an error says that it has ended.
func (m *member) refresh(r *reader) error {
	text, err := r.line(&m.statFile)
	if err != nil {
		return err
	}
	s, ok := parseStat(text)
	if !ok || s.dead() || m.start != 0 && s.start != m.start {
		return errGone
	}
	m.stat, m.name, m.start = s, statName(text), s.start
	return nil
}

func (m *member) close(r *reader) {
	r.close(&m.statFile)
	r.close(&m.ioFile)
	r.close(&m.children)
	m.threads.close(r)
}

// count adds up what the members gained since the pass before. The past of one that
// is not young and was not known then is no gain.
func (p *Process) count() {
	for i, m := range p.members {
		p.behind = len(p.members) - 1 - i
		if m.since == 0 {
			m.since = p.number
		}
		rarely := m.since == p.number || (p.number+m.pid)%slowEvery == 0
		if rarely {
			m.rarely(&p.pass, filepath.Join(p.root, "proc"))
		}
		if rarely || m.identity == m.root { // a quota that is put on an engine is to be seen at once
			m.group(&p.pass)
		}
		m.fds.read(m.dir, rarely)
		gained := m.gained(&p.pass)
		if p.counts(m) {
			p.sum.add(gained)
		}
	}
}

// counts reports whether all that a member did belongs into the totals.
func (p *Process) counts(m *member) bool { return p.number == 1 || m.young || m.since < p.number }

// gained reads a member's counters, and returns what is new. Switches are left to glance.
func (m *member) gained(p *pass) counters {
	now := counters{cpu: m.stat.cpu, faults: m.stat.majorFaults, read: m.last.read, write: m.last.write}
	var text []byte
	if text, m.ioErr = p.files.line(&m.ioFile); m.ioErr == nil {
		now.read, _ = value(text, "read_bytes")
		now.write, _ = value(text, "write_bytes")
	}
	waited := m.threads.read(p, m.stat.threads)
	if m.ioErr != nil || m.threads.err != nil {
		m.ended = m.refresh(p.files) != nil
	}
	gained := counters{cpu: max(0, now.cpu-m.last.cpu) + m.inherited(), wait: waited, faults: max(0, now.faults-m.last.faults),
		read: max(0, now.read-m.last.read), write: max(0, now.write-m.last.write)}
	m.last = now
	m.total.add(gained)
	return gained
}

// inherited is what a member gained by processes that it started, that ended and that were
// not seen or not to their end: a compiler's lives are short. The kernel adds up all that it
// waited for; what was counted of them while they were members is owed to that sum.
func (m *member) inherited() float64 {
	grown := max(0, m.stat.reaped-m.reaped)
	known := min(grown, m.owed)
	m.reaped, m.owed = m.stat.reaped, m.owed-known
	return grown - known
}

// bequeath is told of a member that ended: its parent will be told of all it ever did.
func (m *member) bequeath(to *member) { to.owed += m.last.cpu + m.reaped + m.owed }

// rarely reads what changes rarely.
func (m *member) rarely(p *pass, proc string) {
	m.rank = probes.Printable(rankName(proc, m.pid, m.kind()), 64)
	m.limit = descriptorsLimit(p.files, m.dir)
	m.cpus, m.allowed = "", nil
	if text, err := p.files.whole(m.dir + "/status"); err == nil {
		m.cpus = strings.TrimSpace(after(string(text), allowedLine, ":"))
		m.allowed, _ = parseCPUs(m.cpus)
	}
}

// group reads which cgroups it is in.
func (m *member) group(p *pass) {
	text, err := p.files.whole(m.dir + "/cgroup")
	m.cgroupErr = err
	if err == nil && string(text) != m.cgroup {
		m.cgroup = string(text)
	}
}

// kind is what a member is called that has no title.
func (m *member) kind() string {
	if m.identity == m.root {
		return "server"
	}
	return ""
}

// section is how a member is told.
func (m *member) section() probes.Member {
	s := probes.Member{PID: m.pid, Parent: m.stat.parent, Name: m.name, Rank: m.rank, Endpoint: m.endpoint,
		CPUSecondsTotal: probes.Some(m.stat.cpu), MajorFaultsTotal: probes.Some(m.stat.majorFaults), RSSBytes: probes.Some(m.stat.rss),
		Threads: probes.Some(float64(m.stat.threads)), Descriptors: m.fds.open, DescriptorsLimit: m.limit, AllowedCPUs: probes.Printable(m.cpus, 256)}
	err := m.threads.err
	s.RunWaitSecondsTotal = some(m.total.wait, err)
	s.VoluntarySwitchesTotal, s.PreemptedSwitchesTotal = some(m.total.voluntary, err), some(m.total.preempted, err)
	s.BlockedThreads = some(float64(m.blocked), err)
	return s
}

// some is a reading, or the reason why it could not be made.
func some(v float64, err error) probes.Opt[float64] {
	if err != nil {
		return probes.None[float64](why(err))
	}
	return probes.Some(v)
}

// fill writes the totals into a section.
func (p *Process) fill(s *probes.Process) {
	var many, threads, io error
	if p.many {
		many, threads, io = errMany, errMany, errMany
	}
	rss, count, blocked := 0.0, 0, 0
	for _, m := range p.members {
		if m.ended {
			continue
		}
		rss += m.stat.rss
		count += m.stat.threads
		blocked += m.blocked
		threads = either(threads, m.threads.err)
		io = either(io, m.ioErr)
		s.Members = append(s.Members, m.section())
	}
	slices.SortFunc(s.Members, func(a, b probes.Member) int { return a.PID - b.PID })
	s.CPUSecondsTotal, s.RSSBytes, s.Threads = some(p.sum.cpu, many), some(rss, many), some(float64(count), many)
	s.MajorFaultsTotal = some(p.sum.faults, many)
	s.RunWaitSecondsTotal, s.VoluntarySwitchesTotal, s.PreemptedSwitchesTotal = some(p.sum.wait, threads), some(p.sum.voluntary, threads), some(p.sum.preempted, threads)
	s.BlockedThreads, s.BlockedSecondsTotal = some(float64(blocked), threads), some(p.blocked, threads)
	s.ReadBytesTotal, s.WriteBytesTotal = some(p.sum.read, io), some(p.sum.write, io)
	if errors.Is(threads, errMany) { // of those that are looked at
		threads = nil
	}
	s.BusiestThreadSecs = some(p.busiest, threads)
	fullest(s)
}

// fullest tells the descriptors of the member nearest to its limit.
func fullest(s *probes.Process) {
	share := -1.0
	for _, m := range s.Members {
		open, ok := m.Descriptors.Get()
		limit, ok2 := m.DescriptorsLimit.Get()
		switch {
		case ok && ok2 && limit > 0 && open/limit > share:
			share = open / limit
			s.Descriptors, s.DescriptorsLimit = m.Descriptors, m.DescriptorsLimit
		case share < 0 && !s.Descriptors.Seen():
			s.Descriptors, s.DescriptorsLimit = m.Descriptors, m.DescriptorsLimit
		}
	}
}
