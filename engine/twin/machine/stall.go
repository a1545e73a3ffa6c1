package machine

import "math"

// stall is the kernel's pressure stall information of one resource.
type stall struct{ some, full, avg float64 }

// add notes for which share of a span some and all tasks waited. The average is the kernel's
// own, over ten seconds.
func (s *stall) add(some, full, seconds float64) {
	some = min(1, max(0, some))
	s.some += some * seconds
	s.full += min(some, max(0, full)) * seconds
	s.avg += (some - s.avg) * (1 - math.Exp(-seconds/10))
}

// stall adds up for which share of the span somebody waited. Threads are taken to wait one
// apart from another, but for those that a quota stops: it stops all at once.
func (h *Host) stall(w want, seconds float64) {
	contended := 1 - 1/h.shared.core
	free, idle, asleep := 1.0, 1.0, 0.0
	h.runnable = h.neighbours.wants
	for i := range h.replicas {
		for j := range h.replicas[i].lanes {
			l := &h.replicas[i].lanes[j]
			n := float64(l.count)
			free *= math.Pow(1-l.wants/n*contended, n)
			idle *= math.Pow(max(0, 1-l.wants/n), n)
			h.runnable += l.wants
			asleep += l.sleeps
		}
	}
	stopped := h.shared.pause * (1 - idle)
	s := &h.stalls
	s.groupCPU.add(1-(1-stopped)*free, stopped, seconds)
	s.cpu.add(1-(1-stopped)*free*math.Pow(1/h.shared.core, h.neighbours.wants), 0, seconds)
	waits := h.slowBy.waits
	s.memory.add(max(waits, 0.0002), 0.6*waits, seconds)
	s.groupMemory.add(waits, 0.5*waits*idle, seconds)
	some := 1 - math.Exp(-0.3*h.disk.queue-h.disk.sleeps(h))
	s.io.add(some, some*max(0, 1-h.runnable), seconds)
	h.load1 += (h.runnable + asleep - h.load1) * (1 - math.Exp(-seconds/60))
}

// group is the cgroup of the engines.
type group struct {
	path               string
	periods, throttled float64
	seconds            float64
	quota              float64
}

func (g *group) begin(h *Host) { g.path = "/system.slice/" + h.Personality + ".service" }

// period is that of quotas, as kernels have it unless told otherwise.
const period = 0.1

// advance counts the periods of the quota: there are none without one, nor while nobody wants
// to run.
func (g *group) advance(h *Host, quota, seconds float64) {
	g.quota = quota
	if quota <= 0 || h.shared.given <= 0 {
		return
	}
	g.periods += seconds / period
	g.throttled += seconds / period * h.shared.throttled
	g.seconds += seconds * h.shared.stopped
}
