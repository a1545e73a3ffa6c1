package engine

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"time"
)

// finishedKept is how many finished requests are remembered.
const finishedKept = 8192

// requestLog knows the requests in flight and the last that finished.
type requestLog struct {
	salt [16]byte // makes hashed ids useless to anyone who knows the ids

	mu       sync.Mutex
	running  map[uint64]*record // by order of arrival
	arrivals uint64
	finished []facts         // ring: the one with sequence number s is at (s-1) % finishedKept
	last     uint64          // sequence number of the newest finished request
	none     []chan struct{} // to close when no request is in flight
}

func newRequestLog() *requestLog {
	l := &requestLog{running: make(map[uint64]*record)}
	rand.Read(l.salt[:]) // never fails
	return l
}

// open starts the record of a request that arrives now. id is the one its answer bears.
func (l *requestLog) open(id string, now time.Time) *record {
	r := &record{facts: facts{id: l.hash(id), line: NewTimeline(now)}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrivals++
	r.seq = l.arrivals
	l.running[r.seq] = r
	return r
}

// close ends a record. What happens to the request later changes it no more.
func (l *requestLog) close(r *record, why Finish, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.charge(now)
	if !r.preemptedAt.IsZero() {
		r.preempted += max(0, now.Sub(r.preemptedAt))
	}
	r.finish = why
	delete(l.running, r.seq)
	if len(l.running) == 0 {
		l.tellIdle()
	}
	l.last++
	f := r.facts
	f.seq = l.last
	if len(l.finished) < finishedKept {
		l.finished = append(l.finished, f)
	} else {
		l.finished[(f.seq-1)%finishedKept] = f
	}
}

// idle returns a channel that is closed once no request is in flight.
func (l *requestLog) idle() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := make(chan struct{})
	l.none = append(l.none, c)
	if len(l.running) == 0 {
		l.tellIdle()
	}
	return c
}

// tellIdle wakes who waits for idle; the caller holds mu.
func (l *requestLog) tellIdle() {
	for _, c := range l.none {
		close(c)
	}
	l.none = nil
}

// inFlight returns up to limit requests in flight, the oldest first, and the number of all.
func (l *requestLog) inFlight(limit int) (requests []facts, all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys := slices.Sorted(maps.Keys(l.running))
	for _, k := range keys[:min(limit, len(keys))] {
		requests = append(requests, l.running[k].snapshot())
	}
	return requests, len(keys)
}

// after returns up to limit of the finished requests that follow number seq, in
// order, how many of them are forgotten, and the number to ask after next. A
// number that was never given (the engine has started anew) counts as 0.
func (l *requestLog) after(seq uint64, limit int) (requests []facts, missed, next uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq > l.last {
		seq = 0
	}
	oldest := l.last - uint64(len(l.finished)) // number before the oldest kept
	if seq < oldest {
		missed, seq = oldest-seq, oldest
	}
	for next = seq; next < l.last && len(requests) < limit; next++ {
		requests = append(requests, l.finished[next%finishedKept])
	}
	return requests, missed, next
}

func (l *requestLog) hash(id string) string {
	sum := sha256.Sum256(append(l.salt[:], id...))
	return hex.EncodeToString(sum[:6])
}
