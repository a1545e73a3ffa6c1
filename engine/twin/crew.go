package twin

import "time"

// crew serves jobs in order of coming, so many at once: threads that tokenize or decode
// images, a link on which caches are sent. What a job takes is known only when its turn has
// come, so that a change of speed also concerns those that wait.
type crew struct {
	way     way
	places  int
	busy    int
	waiting []waiting
	first   int // of waiting
	done    kind
	takes   func(j *job) time.Duration
	pauses  *pauses
}

// waiting is a job that waits, if it still is the one that came.
type waiting struct {
	job  *job
	life uint32
}

// send gives a job to the crew; the event that it is done with comes later.
func (c *crew) send(j *job) {
	c.waiting = append(c.waiting, waiting{j, j.life})
	c.start()
}

// start begins with those that wait, as far as there are places.
func (c *crew) start() {
	for c.busy < c.places && c.first < len(c.waiting) {
		w := c.waiting[c.first]
		c.waiting[c.first] = waiting{}
		c.first++
		if w.job.life != w.life {
			continue // it has ended meanwhile
		}
		c.busy++
		w.job.with[c.way] = c
		s := w.job.replica.sim
		s.at(c.pauses.extend(s.now, c.takes(w.job)), c.done, w.job)
	}
	if c.first == len(c.waiting) {
		c.waiting, c.first = c.waiting[:0], 0
	} else if c.first > 1024 && c.first > len(c.waiting)/2 {
		n := copy(c.waiting, c.waiting[c.first:])
		clear(c.waiting[n:])
		c.waiting, c.first = c.waiting[:n], 0
	}
}

// way is one of the two that a job is on at the same time: its front half, and its keys
// and values from a prefill instance.
type way uint8

const (
	byFront way = iota
	byWire
	numWays
)

// leave frees the place of a job that a crew is done with, or that has ended meanwhile.
func (j *job) leave(w way) {
	if c := j.with[w]; c != nil {
		j.with[w] = nil
		c.busy--
		c.start()
	}
}

// resize changes the number of places; who is served stays.
func (c *crew) resize(places int) {
	c.places = places
	c.start()
}

// clear forgets all.
func (c *crew) clear() {
	c.busy, c.waiting, c.first = 0, nil, 0
}
