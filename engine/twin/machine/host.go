package machine

import (
	"fmt"
	"strings"
	"time"
)

// Host is a machine with engines on it. It is not safe for concurrent use.
type Host struct {
	Config
	parameters
	draw  *draws // of what happens
	noise *draws // of what is read

	replicas    []replica
	personality *personality
	newest      int // process number
	nodes       []node
	allCPUs     string
	everyCore   []int
	engineNodes [2]bool // on which engines may run

	at       time.Duration
	shared   share
	slowBy   conditions
	cores    cores
	group    group
	stalls   struct{ cpu, memory, io, groupCPU, groupMemory stall }
	seconds  struct{ steal, diskWait float64 }
	load1    float64
	runnable float64

	memory     memory
	disk       disk
	network    network
	neighbours neighbours
	told       told
}

// New is a host at the begin of a run, its engines up.
func New(c Config) (*Host, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := personalityOf(c.Personality)
	if p == nil {
		return nil, fmt.Errorf("no processes of engine %q can be simulated: there are %s", c.Personality, strings.Join(Personalities(), ", "))
	}
	h := &Host{Config: c, draw: newDraws(&c, 1), noise: newDraws(&c, 2), personality: p}
	h.parameters = drawParameters(h.draw, &c)
	h.newest = 2000 + int(h.draw.Uint64N(60000))
	h.nodes, h.allCPUs = nodesOf(c.Cores, c.GPUs), cpuList(0, c.Cores)
	h.everyCore = numbers(nil, 0, c.Cores)
	h.cores = newCores(c.Cores, h.uptime)
	h.slowBy = conditions{steal: 1, memory: 1}
	h.shared.wait, h.shared.core = 1+h.wake, 1+h.wake
	h.begin()
	return h, nil
}

// begin starts what runs when the run begins.
func (h *Host) begin() {
	h.neighbours.begin(h)
	age := h.Age
	if age <= 0 {
		age = time.Duration(h.draw.about(9) * float64(time.Hour))
	}
	h.replicas = make([]replica, h.Replicas)
	for i := range h.replicas {
		r := &h.replicas[i]
		*r = replica{number: i, endpoint: h.Endpoints[i], roles: h.personality.rolesFor(h.ranks()), parent: 1, speed: h.draw.about(1)}
		if h.personality.launched {
			r.parent = h.number(3)
		}
		for k := range r.clients {
			r.clients[k] = h.peer()
		}
		h.start(r, h.Start.Add(-age))
		h.remember(r, age.Seconds())
	}
	h.pin()
	h.memory.begin(h)
	h.disk.begin(h)
	h.network.begin(h)
	h.group.begin(h)
	h.stalls.cpu.some, h.stalls.io.some = 0.01*h.uptime, 0.002*h.uptime
	h.told = told{at: h.Start}
}

// remember gives the processes of a replica a past: they have run for so long.
func (h *Host) remember(r *replica, age float64) {
	for i := range r.lanes {
		l := &r.lanes[i]
		busy := h.draw.about(0.15)
		if l.spec.spin != never && l.spec.kind == fixed {
			busy = h.draw.about(0.55)
		}
		for j := range l.threads {
			run := min(age, busy/float64(len(l.threads))*age)
			t := &l.threads[j]
			t.run, t.wait, t.told = run, h.wake*run, run
			r.processes[l.process].add(&counters{run: run, wait: h.wake * run, voluntary: 150 * run, preempted: 3 * run})
		}
	}
	for i := range r.processes {
		p := &r.processes[i]
		p.faults, p.write = h.draw.count(h.draw.about(400)), h.draw.about(30*mib)
		p.read = h.WeightBytes/float64(len(r.processes)) + h.draw.about(200*mib)
	}
}

// Slowdown is how many times as long the work of a replica on the CPU takes as on free cores
// of its own: what the next steps are computed under.
func (h *Host) Slowdown(replica int) float64 {
	c := &h.slowBy
	return h.shared.wait * c.steal * c.memory * h.distance(&h.replicas[replica])
}

// distance is how many times as much CPU work takes as where its memory is near.
func (h *Host) distance(r *replica) float64 {
	if !h.remote() {
		return 1
	}
	return 1 + (h.far-1)*r.speed
}
