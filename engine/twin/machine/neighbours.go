package machine

import (
	"cmp"
	"math"
	"slices"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/probes"
)

// neighbours are the processes beside the engines'.
type neighbours struct {
	daemons []neighbour // that each such host has
	jobs    []neighbour // that take the cores, when somebody asks for some
	eater   neighbour   // takes the memory
	flusher neighbour   // the kernel's, writes the disk's journal

	asked float64 // cores that jobs want
	wants float64 // threads that are ready, daemons included
	runs  float64 // cores that they get
	total int     // processes of the host

	last  *probes.Neighbours
	spent float64 // core seconds since the last look, of jobs
	idle  float64 // of daemons
}

type neighbour struct {
	name, user string
	pid        int
	part       float64 // of what its kind takes
	rss        float64
	io         float64 // bytes a second to and from disks
}

// jobNames are what people run beside an engine.
var jobNames = []struct{ name, user string }{
	{"ffmpeg", "media"}, {"python3", "batch"}, {"java", "spark"}, {"cc1plus", "builder"}, {"rustc", "builder"}, {"zstd", "backup"}, {"node", "web"}, {"pytest", "ci"},
}

var daemonNames = []struct {
	name, user string
	part, rss  float64
}{
	{"containerd", "root", 0.2, 90 * mib}, {"kubelet", "root", 0.3, 140 * mib}, {"dcgm-exporter", "root", 0.15, 70 * mib},
	{"node_exporter", "nobody", 0.05, 30 * mib}, {"systemd-journal", "root", 0.1, 60 * mib}, {"vector", "logs", 0.2, 120 * mib},
}

func (n *neighbours) begin(h *Host) {
	for _, d := range daemonNames {
		n.daemons = append(n.daemons, neighbour{d.name, d.user, h.number(1 + int(h.draw.Uint64N(40))), d.part, h.draw.about(d.rss), h.draw.about(20 * kib)})
	}
	n.flusher = neighbour{name: "jbd2/nvme0n1p2-", user: "root", pid: 200 + int(h.draw.Uint64N(700))}
	kind := jobNames[h.draw.IntN(len(jobNames))]
	n.eater = neighbour{name: "python3", user: "batch", pid: h.number(1 + int(h.draw.Uint64N(900)))}
	for i, left := 0, 1.0; i < 4; i++ { // several of a kind, the first the largest
		part := left * (0.4 + 0.3*h.draw.Float64())
		if i == 3 {
			part = left
		}
		left -= part
		n.jobs = append(n.jobs, neighbour{kind.name, kind.user, h.number(1 + int(h.draw.Uint64N(30))), part, h.draw.about(600 * mib), h.draw.about(part * mib)})
	}
	n.total = 280 + int(h.draw.about(6*float64(h.Cores)))
	n.wants = h.others
}

// advance says what they want in this span.
func (n *neighbours) advance(h *Host) {
	n.asked = amount(h.Board.Value(knob.CPUNeighbour))
	n.wants = n.asked + h.others*(0.8+0.4*h.draw.Float64())
}

// account notes what they took in this span of the cores that they got.
func (n *neighbours) account(h *Host, seconds float64) {
	jobs := 0.0
	if n.wants > 0 {
		jobs = n.runs * n.asked / n.wants
	}
	n.spent += jobs / h.slowBy.steal * seconds
	n.idle += (n.runs - jobs) / h.slowBy.steal * seconds
}

// look is the section: all processes are looked at rarely. What they took is told of the time
// between two looks.
func (n *neighbours) look(h *Host, at time.Time) *probes.Neighbours {
	if n.last != nil && at.Sub(n.last.At) < neighboursEvery && (n.last.SpanSeconds > 0 || at.Sub(n.last.At) < neighboursSoon) {
		return n.last
	}
	s := &probes.Neighbours{At: probes.Stamp(at), Processes: n.total}
	if n.last != nil {
		s.SpanSeconds = probes.Seconds(at.Sub(n.last.At))
	}
	n.tell(h, s)
	n.spent, n.idle, n.last = 0, 0, s
	return s
}

// The host's probe looks at all processes so rarely, and so soon a second time.
const (
	neighboursEvery = 10 * time.Second
	neighboursSoon  = 2 * time.Second
)

const (
	mostNeighbours  = 8
	leastNeighbour  = 0.01 // cores
	largeNeighbour  = 0.05 // of the host's memory
	shortOfMemory   = 0.02 // share of waiting from which somebody is seen to hold the memory
	ioOfEater       = 4    // times as much of the disks as goes out to swap
	blockedFromDisk = 0.02 // seconds of a write from which the journal is mostly seen waiting
)

func (n *neighbours) tell(h *Host, s *probes.Neighbours) {
	add := func(k *neighbour, cores float64) {
		if s.SpanSeconds > 0 && cores >= leastNeighbour {
			s.List = append(s.List, h.neighbour(k, cores))
		}
	}
	per := 1 / max(s.SpanSeconds, 1e-6)
	for i := range n.jobs {
		add(&n.jobs[i], n.spent*per*n.jobs[i].part)
	}
	for i := range n.daemons {
		add(&n.daemons[i], n.idle*per*n.daemons[i].part)
	}
	slices.SortStableFunc(s.List, func(a, b probes.Neighbour) int { return cmp.Compare(b.CPUCores.Or(0), a.CPUCores.Or(0)) })
	s.List = s.List[:min(len(s.List), mostNeighbours)]
	if h.slowBy.waits > shortOfMemory && s.SpanSeconds > 0 {
		k := h.neighbour(&n.eater, 0.05)
		k.RSSBytes = probes.Some(max(largeNeighbour*h.MemoryBytes, h.MemoryBytes*h.memory.availability-h.resident()))
		k.IOBytesPerS = probes.Some(ioOfEater * h.memory.swapped * page)
		s.List = append(s.List, k)
	}
	if h.disk.latency > blockedFromDisk && s.SpanSeconds > 0 {
		k := h.neighbour(&n.flusher, 0)
		k.Blocked, k.CgroupWeight = true, probes.Opt[float64]{}
		s.List = append(s.List, k)
	}
}

func (h *Host) neighbour(k *neighbour, cores float64) probes.Neighbour {
	return probes.Neighbour{PID: k.pid, Name: k.name, User: k.user, CPUCores: probes.Some(cores), RSSBytes: probes.Some(math.Floor(k.rss)), IOBytesPerS: probes.Some(math.Floor(k.io)),
		SharedCPUs: probes.Some(float64(len(h.engineCores()))), CgroupWeight: probes.Some(100.0)}
}
