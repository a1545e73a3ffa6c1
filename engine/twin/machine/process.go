package machine

import (
	"math"
	"slices"
	"time"

	"llmtop/engine/twin/knob"
)

// maxThreads bounds the threads of a kind that are told one by one: as many as are ever told
// as the busiest.
const maxThreads = 8

// replica is one engine: its processes, and what they do.
type replica struct {
	number     int
	endpoint   string
	roles      []role
	parent     int // who has started the process that listens
	processes  []process
	lanes      []lane // of all processes
	logger     int    // the lane that writes the log
	load       Load
	up         bool // its processes run
	began      time.Time
	speed      float64 // this one's own share of parameters.far
	past       history // of its parts
	slow       []client
	clients    [maxFull]string // some of those that read as they should
	full       time.Time       // since when the network has no room for them
	rate       float64         // bytes a second sent
	unsent     float64         // bytes the network had no room for
	unread     float64
	unaccepted float64
}

// process is one of an engine's. Its counters are since its start.
type process struct {
	role   *role
	name   string
	pid    int
	parent int
	rank   string
	gpu    int // on whose near or far node it runs
	cpus   string
	began  time.Time
	rss    float64
	idle   float64 // threads that do nothing
	counters
	blocked float64 // threads in uninterruptible sleep when it was last looked at
}

// counters are what the kernel adds up for a process.
type counters struct{ run, wait, voluntary, preempted, faults, read, write float64 }

func (c *counters) add(d *counters) {
	c.run += d.run
	c.wait += d.wait
	c.voluntary += d.voluntary
	c.preempted += d.preempted
	c.faults += d.faults
	c.read += d.read
	c.write += d.write
}

// lane are the threads of a process that are alike, and what they did in the last span.
type lane struct {
	spec    *laneSpec
	process int
	threads []thread // those that are told; there may be more
	count   int
	owed    float64 // CPU seconds that found no core yet

	wants    float64 // of the last span: threads that ran or waited to run, mean
	run      float64 // cores
	wait     float64 // seconds a second
	occupied float64 // cores, time that the hypervisor took included
	sleeps   float64 // threads in uninterruptible sleep, mean
}

// thread is one of them.
type thread struct {
	tid       int
	run, wait float64 // seconds since its start
	told      float64 // run when it was last told
	blocked   bool    // when it was last looked at
}

// name of a thread, as the kernel has it.
func (l *lane) name(r *replica) string {
	if l.spec.name != "" {
		return l.spec.name
	}
	return r.processes[l.process].name
}

// start brings the processes of a replica up.
func (h *Host) start(r *replica, at time.Time) {
	r.up, r.began = true, at
	r.processes, r.lanes = r.processes[:0], r.lanes[:0]
	parents := [8]int{}
	for i := range r.roles {
		ro := &r.roles[i]
		parent := r.parent
		if i > 0 {
			parent = parents[ro.parent]
		}
		n := 1
		if ro.ranked {
			n = h.ranks()
		}
		for rank := range n {
			pid := h.startProcess(r, ro, rank, parent, at)
			if rank == 0 {
				parents[i] = pid
			}
		}
	}
}

func (h *Host) startProcess(r *replica, ro *role, rank, parent int, at time.Time) int {
	p := process{role: ro, name: h.processName(ro), parent: parent, gpu: r.number*h.ranks() + rank, began: at, pid: h.number(1 + int(h.draw.Uint64N(6))),
		rank: h.rankName(ro, rank), rss: h.draw.about(ro.memory * gib), idle: math.Round(h.draw.about(ro.threads))}
	for i := range ro.lanes {
		l := lane{spec: &ro.lanes[i], process: len(r.processes), count: ro.lanes[i].threads}
		n := min(max(1, l.count), maxThreads)
		if l.spec.kind == tokenizers {
			n = maxThreads // their number may change
		}
		for t := range n {
			tid := p.pid
			if i > 0 || t > 0 {
				tid = h.number(1)
			}
			l.threads = append(l.threads, thread{tid: tid})
		}
		if slices.Contains(l.spec.parts, Logging) {
			r.logger = len(r.lanes)
		}
		r.lanes = append(r.lanes, l)
	}
	r.processes = append(r.processes, p)
	return p.pid
}

// maxPID is where the kernel begins anew.
const maxPID = 1 << 22

// number is a process number that was not given yet.
func (h *Host) number(step int) int {
	if h.newest += step; h.newest >= maxPID {
		h.newest = 300 + step
	}
	return h.newest
}

// stop ends the processes of a replica.
func (r *replica) stop() {
	r.up = false
	r.processes, r.lanes = r.processes[:0], r.lanes[:0]
	r.slow, r.unsent, r.unread, r.unaccepted = r.slow[:0], 0, 0, 0
	r.rate = 0
}

// follow starts and stops replicas as their loads say.
func (h *Host) follow(loads []Load, began time.Time) {
	for i := range h.replicas {
		r := &h.replicas[i]
		r.load = Load{}
		if i < len(loads) {
			r.load = loads[i]
		}
		lives := r.load.Up || r.load.Loading
		if r.up && (!lives || r.load.Restarted) {
			r.stop()
		}
		if !r.up && lives {
			h.start(r, began)
		}
	}
}

// pin says on which cores each process may run: all, or those of the node that its GPU is
// not at.
func (h *Host) pin() {
	remote := h.Board.On(knob.NUMARemote)
	h.engineNodes = [2]bool{}
	for i := range h.replicas {
		r := &h.replicas[i]
		for j := range r.processes {
			p := &r.processes[j]
			if !remote || len(h.nodes) == 1 {
				p.cpus, h.engineNodes = h.allCPUs, [2]bool{true, true}
				continue
			}
			far := len(h.nodes) - 1 - h.nodeOf(p.gpu)
			p.cpus = h.nodes[far].cpus
			h.engineNodes[far] = true
		}
	}
}

// remote reports whether work is done far from its memory.
func (h *Host) remote() bool { return h.Board.On(knob.NUMARemote) && len(h.nodes) > 1 }

// PIDs are the processes that use the GPUs, by GPU: rank 0 of replica 0 first. 0 stands for
// one that is down.
func (h *Host) PIDs() []int {
	pids := make([]int, h.Replicas*h.ranks())
	for i := range h.replicas {
		r := &h.replicas[i]
		at := pids[i*h.ranks() : (i+1)*h.ranks()]
		next := 0
		for j := range r.processes {
			if p := &r.processes[j]; p.role.ranked && next < len(at) {
				at[next] = p.pid
				next++
			}
		}
		if next == 0 && len(r.processes) > 0 { // one process for all GPUs
			for k := range at {
				at[k] = r.processes[0].pid
			}
		}
	}
	return pids
}

// Began is when the processes of a replica started; zero while they are down.
func (h *Host) Began(replica int) time.Time {
	if r := &h.replicas[replica]; r.up {
		return r.began
	}
	return time.Time{}
}
