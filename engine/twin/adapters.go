package twin

import "time"

// adapters are the LoRA adapters on a replica's GPUs: so many slots. A sequence holds
// the slot of its adapter from before it is in the scheduler until it ends. When a slot
// is free of sequences, the adapter that waits for longest gets the one used longest ago.
type adapters struct {
	slots             []slot
	in                map[int]int // slot by adapter
	count             uint64      // of uses
	loader            server      // one is loaded at a time
	queue             []*job      // those that wait for a slot, in order
	active, sequences int         // adapters in the batch, and sequences that use one

	most int // slots that may be filled; those beyond are emptied when nobody holds them
}

type slot struct {
	adapter int // 0: none
	users   int // jobs that hold it
	running int // of them in the batch
	ready   time.Duration
	used    uint64
}

func newAdapters(slots int) adapters {
	return adapters{in: make(map[int]int), loader: newServer(1), most: max(1, slots)}
}

// take gives a job the slot of its adapter and says when the adapter is there; ok is
// false when it has to wait for a slot.
func (a *adapters) take(r *replica, j *job) (ready time.Duration, ok bool) {
	n, there := a.in[j.adapter]
	if !there {
		if n = a.vacant(); n < 0 {
			a.queue = append(a.queue, j)
			return 0, false
		}
		a.load(r, n, j.adapter)
	}
	a.count++
	s := &a.slots[n]
	s.users, s.used = s.users+1, a.count
	j.slot = n
	return s.ready, true
}

// vacant is a slot that nobody holds, -1 if there is none.
func (a *adapters) vacant() int {
	if len(a.slots) < a.most {
		a.slots = append(a.slots, slot{})
		return len(a.slots) - 1
	}
	best := -1
	for n := range a.slots[:min(a.most, len(a.slots))] {
		if s := &a.slots[n]; s.users == 0 && (best < 0 || s.used < a.slots[best].used) {
			best = n
		}
	}
	return best
}

func (a *adapters) load(r *replica, n, adapter int) {
	if old := a.slots[n].adapter; old != 0 {
		delete(a.in, old)
	}
	work := times(r.sim.front.Adapter, r.slow.adapter)
	a.slots[n] = slot{adapter: adapter, ready: a.loader.serve(r.sim.now, work, &r.pauses)}
	a.in[adapter] = n
	for i := range r.gpus {
		r.gpus[i].Copied += r.sim.adapter
	}
}

// give takes back what a job holds or waits for, and lets others go on.
func (a *adapters) give(r *replica, j *job) {
	if j.slot < 0 {
		for i, q := range a.queue {
			if q == j {
				a.queue = append(a.queue[:i], a.queue[i+1:]...)
				break
			}
		}
		return
	}
	s := &a.slots[j.slot]
	s.users--
	n := j.slot
	j.slot = -1
	if s.users == 0 && n >= a.most && s.adapter != 0 {
		delete(a.in, s.adapter)
		*s = slot{}
	}
	a.move(r)
}

// move lets those that wait for a slot have one, as far as there are any: the first of
// them, and those behind it that want the same adapter.
func (a *adapters) move(r *replica) {
	for len(a.queue) > 0 && a.vacant() >= 0 {
		adapter := a.queue[0].adapter
		rest := a.queue[:0]
		for _, q := range a.queue {
			if q.adapter != adapter {
				rest = append(rest, q)
				continue
			}
			ready, _ := a.take(r, q) // the first brings the adapter in
			r.sim.at(max(ready, r.sim.now), gated, q)
		}
		clear(a.queue[len(rest):])
		a.queue = rest
	}
}

// runs notes that a job has joined the batch (1) or left it (-1).
func (a *adapters) runs(j *job, change int) {
	if j.slot < 0 {
		return
	}
	s := &a.slots[j.slot]
	before := s.running
	s.running += change
	a.sequences += change
	if before == 0 {
		a.active++
	} else if s.running == 0 {
		a.active--
	}
}

// resize changes the number of slots; adapters in those beyond go when nobody holds them.
func (a *adapters) resize(r *replica, slots int) {
	a.most = max(1, slots)
	for n := a.most; n < len(a.slots); n++ {
		if s := &a.slots[n]; s.users == 0 && s.adapter != 0 {
			delete(a.in, s.adapter)
			*s = slot{}
		}
	}
	a.move(r)
}
