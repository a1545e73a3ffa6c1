package twin

import (
	"time"

	"llmtop/engine"
)

// cause is what a job in the queue waits for beside room.
type cause uint8

const (
	nothing cause = iota
	theLock
	aGrammar
	aTransfer
	anAdapter
	numCauses
)

// waits counts the jobs that are held back in front of a scheduler.
type waits struct {
	all     int
	by      [numCauses]int
	byClass [engine.NumClasses]int
}

// hold notes that a job is held back, and for what.
func (w *waits) hold(j *job, c cause) {
	w.release(j)
	j.cause = c
	w.all++
	w.by[c]++
	w.byClass[classIndex(j)]++
}

// release notes that a job is not held back any more.
func (w *waits) release(j *job) {
	if j.cause == nothing {
		return
	}
	w.all--
	w.by[j.cause]--
	w.byClass[classIndex(j)]--
	j.cause = nothing
}

// gate lets a job pass to the scheduler once all is there that it needs: the lock, its
// grammar, its keys and values, its adapter. Each that is missing calls again.
func (r *replica) gate(j *job) {
	if r.sim.now < j.until {
		return
	}
	if !j.unlocked {
		j.unlocked = true
		wait := r.lockWait()
		r.load.Locked += wait
		if r.hold(j, theLock, r.sim.now+wait) {
			return
		}
	}
	if j.schema > 0 {
		ready := r.grammars.ready(r, j.schema)
		if j.schema = 0; r.hold(j, aGrammar, ready) {
			return
		}
	}
	if !j.arrived {
		r.waits.hold(j, aTransfer) // which calls
		return
	}
	if j.adapter > 0 && j.slot < 0 {
		ready, ok := r.adapters.take(r, j)
		if !ok {
			r.waits.hold(j, anAdapter) // whoever gives a slot back calls
			return
		}
		if r.hold(j, anAdapter, ready) {
			return
		}
	}
	r.waits.release(j)
	r.add(j)
}

// hold keeps a job back until a time; it reports false when that has come.
func (r *replica) hold(j *job, c cause, until time.Duration) bool {
	if until <= r.sim.now {
		return false
	}
	j.until = until
	r.waits.hold(j, c)
	r.sim.at(until, gated, j)
	return true
}
