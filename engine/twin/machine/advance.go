package machine

import (
	"math"
	"time"

	"llmtop/engine/twin/knob"
)

// conditions are what makes work take longer beside the want of cores.
type conditions struct {
	steal  float64 // times as long: the hypervisor runs others meanwhile
	memory float64 // times as long: threads wait for pages
	waits  float64 // share of time in which tasks wait for memory
}

// Advance takes what the replicas have done in the span that ends now.
func (h *Host) Advance(now, span time.Duration, loads []Load) {
	if span <= 0 {
		return
	}
	seconds := span.Seconds()
	h.at = now
	h.follow(loads, h.Start.Add(now-span))
	h.pin()
	h.slowBy = h.conditions()
	h.neighbours.advance(h)
	w := h.wants(seconds)
	h.shared = divide(w, h.wake, h.burst)
	h.disk.advance(h, seconds)
	h.work(seconds)
	h.occupy(w, seconds)
	h.group.advance(h, w.quota, seconds)
	h.stall(w, seconds)
	h.memory.advance(h, seconds)
	h.network.advance(h, seconds)
	for i := range h.replicas {
		h.replicas[i].past.keep(h.at)
	}
}

func (h *Host) conditions() conditions {
	c := conditions{steal: 1 / (1 - amount(h.Board.Value(knob.CPUSteal))), waits: amount(h.Board.Value(knob.MemoryPressure))}
	c.memory = 1 / (1 - c.waits)
	return c
}

// amount is the value of a knob that nobody has turned yet: none.
func amount(value float64) float64 {
	if math.IsNaN(value) {
		return 0
	}
	return value
}

// wants adds up who wants the cores.
func (h *Host) wants(seconds float64) want {
	w := want{quota: amount(h.Board.Value(knob.CPUQuota)), cores: float64(len(h.engineCores()))}
	w.others = h.neighbours.wants * w.cores / float64(h.Cores)
	extra := h.libraryThreads(w.cores)
	for i := range h.replicas {
		r := &h.replicas[i]
		for j := range r.lanes {
			l := &r.lanes[j]
			h.demand(r, l, extra, seconds)
			w.engine += l.wants
			w.varies += 0.5 * l.wants * (1 - l.wants/float64(l.count))
		}
	}
	return w
}

// engineCores are those on which engines may run.
func (h *Host) engineCores() []int {
	switch {
	case len(h.nodes) == 1 || h.engineNodes == [2]bool{true, false}:
		return h.nodes[0].list
	case h.engineNodes == [2]bool{false, true}:
		return h.nodes[1].list
	}
	return h.everyCore
}

// libraryThreads is how many threads each process's libraries keep busy at their barriers.
// As many as they start by themselves find their cores; each more of them spins for those
// that have none.
func (h *Host) libraryThreads(cores float64) float64 {
	pools := 0
	for i := range h.replicas {
		for j := range h.replicas[i].lanes {
			if h.replicas[i].lanes[j].spec.kind == libraries {
				pools++
			}
		}
	}
	return max(0, h.Board.Value(knob.CPUThreads)-1) * cores / 4 / float64(max(1, pools))
}

// longestOwed bounds the work that threads have yet to do, in seconds of each.
const longestOwed = 2

// lockShare is the CPU that waiting for a lock takes: a thread spins before it sleeps.
const lockShare = 0.05

// demand is what a lane wants of the cores. Its work was done under the slowdown of the span
// before, which is what it took the threads; what finds no core now is owed.
func (h *Host) demand(r *replica, l *lane, extra, seconds float64) {
	times := 1.0
	if r.processes[l.process].role.ranked {
		times = float64(h.ranks())
	}
	work := 0.0
	for _, p := range l.spec.parts {
		cpu := max(0, r.load.CPU[p].Seconds()) * h.distance(r)
		work += cpu
		r.past.parts[p] += cpu * times
	}
	if l == &r.lanes[0] {
		spun := lockShare * r.load.Locked.Seconds()
		work += spun
		r.past.parts[locking] += spun
	}
	busy := min(r.load.Stepping.Seconds(), seconds)
	l.count = max(1, l.spec.threads)
	switch l.spec.kind {
	case tokenizers:
		if n := h.Board.At(knob.TokenizerThreads, r.number); n >= 1 {
			l.count = int(n)
		}
	case libraries:
		l.count = max(1, int(math.Ceil(extra)))
		l.wants = min(extra*busy/seconds, float64(l.count))
		return
	}
	room := float64(l.count) * seconds
	l.owed = min(l.owed+work, float64(l.count)*max(longestOwed, seconds))
	awake := 1 - h.slowBy.waits // what waits for memory neither runs nor would
	wants := min(l.owed*h.slowBy.steal*h.shared.wait, room*awake)
	switch l.spec.spin {
	case stepping:
		wants = max(wants, busy*awake)
	case always:
		wants = room * awake
	}
	l.wants = min(wants/seconds, float64(l.count))
}

// work lets the lanes run.
func (h *Host) work(seconds float64) {
	for i := range h.replicas {
		r := &h.replicas[i]
		for j := range r.lanes {
			l := &r.lanes[j]
			l.occupied = l.wants / h.shared.wait
			l.run = l.occupied / h.slowBy.steal
			if l.spec.spin == never {
				l.run = min(l.run, l.owed/seconds)
				l.occupied = l.run * h.slowBy.steal
			}
			done := min(l.owed, l.run*seconds)
			l.owed -= done
			l.wait = l.occupied * (h.shared.wait - 1)
			l.sleeps = min(float64(l.count)*h.slowBy.waits, l.run*(h.slowBy.memory-1))
			r.past.parts[spinning] += max(0, l.run*seconds-done)
			h.account(r, j, seconds)
		}
		if r.up {
			r.lanes[r.logger].sleeps += h.disk.blames(h, r) * min(r.load.Blocked.Seconds(), seconds) / seconds
			h.process(r, seconds)
		}
	}
}

// account writes down what a lane did, for its threads and its process.
func (h *Host) account(r *replica, j int, seconds float64) {
	l := &r.lanes[j]
	each := seconds / float64(l.count)
	for t := range l.threads[:min(len(l.threads), l.count)] {
		l.threads[t].run += l.run * each
		l.threads[t].wait += l.wait * each
	}
	contended := 1 - 1/h.shared.core
	c := counters{run: l.run * seconds, wait: l.wait * seconds}
	c.preempted = c.run*(contended/h.slice+2) + h.shared.throttled*10*seconds*l.wants
	if l.spec.kind == libraries { // each barrier puts them to sleep and wakes them
		c.voluntary = float64(r.load.Steps) * min(l.wants, float64(l.count)) * 2
	}
	r.processes[l.process].add(&c)
	h.told.sum.add(&c)
}

// process adds what processes do beside running: they give cores up when they wait, read,
// write, and need pages.
func (h *Host) process(r *replica, seconds float64) {
	requests, steps := float64(r.load.Requests), float64(r.load.Steps)
	mainRun, poolRun := r.lanes[0].run, 0.0
	for j := range r.lanes[1:] {
		if l := &r.lanes[1+j]; l.process == 0 && l.spec.spin == never {
			poolRun += l.run
		}
	}
	for i := range r.processes {
		p := &r.processes[i]
		c := counters{voluntary: steps*4 + 8*seconds, faults: h.draw.count(0.6 * h.memory.faults * seconds / float64(len(r.processes)*h.Replicas))}
		if i == 0 {
			c.voluntary = steps*3 + requests*25 + r.load.Locked.Seconds()/0.002 + 20*seconds
			if h.personality.language == python { // threads of one interpreter hand its lock over every 5 ms
				c.voluntary += 2 * min(mainRun, poolRun, 1) / 0.005 * seconds
			}
			c.write = (requests + steps/10) * h.lines
		}
		if r.load.Read > 0 && (p.role.ranked || len(r.processes) == 1) {
			c.read = r.load.Read * h.disk.loads / h.disk.asked / float64(min(h.ranks(), len(r.processes)))
		}
		p.add(&c)
		h.told.sum.add(&c)
		p.rss += 40 * kib * seconds * math.Exp(-h.at.Hours()/6) // caches fill
	}
}

// occupy says how busy each core was. Whoever takes half a core and more has one of its own; what
// is less is spread.
func (h *Host) occupy(w want, seconds float64) {
	c := &h.cores
	clear(c.used)
	list, light := h.engineCores(), 0.0
	turn := int(h.at / (20 * time.Second)) // threads are moved now and then
	for i := range h.replicas {
		for j := range h.replicas[i].lanes {
			l := &h.replicas[i].lanes[j]
			each, rest := l.occupied/float64(l.count), l.occupied
			for t := range l.threads[:min(len(l.threads), l.count)] {
				if each < heavy || !c.put(list, l.threads[t].tid+turn, min(1, each)) {
					break
				}
				rest -= each
			}
			light += max(0, rest)
		}
	}
	c.spread(list, light)
	others := h.shared.others + min(h.neighbours.wants-w.others, float64(h.Cores)-w.cores)
	h.neighbours.runs = others
	if each := others / max(1, math.Ceil(h.neighbours.asked)); h.neighbours.asked >= 1 && each >= heavy {
		for range min(h.Cores, int(math.Ceil(h.neighbours.asked))) {
			if !c.put(h.everyCore, h.Cores/2+turn, min(1, each)) {
				break
			}
			others -= each
		}
	}
	c.spread(h.everyCore, max(0, others))
	h.neighbours.account(h, seconds)
	for i, used := range c.used {
		c.busy[i] += used * seconds
	}
	h.seconds.steal += c.sum() * (1 - 1/h.slowBy.steal) * seconds
}
