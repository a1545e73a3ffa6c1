package live

import (
	"sync/atomic"
	"time"
)

// mostBehind is how far real time may fall behind the schedule before the schedule gives in.
const mostBehind = 250 * time.Millisecond

// pacer lets time pass. Of things that follow each other directly it keeps a schedule of
// deadlines, so that neither a timer's resolution nor what the engine itself takes between
// two steps makes them longer in the long run: that is part of the modelled time.
type pacer struct {
	done <-chan struct{} // ends every wait
	due  time.Time       // until when the schedule is full; zero after a rest

	lost atomic.Int64 // nanoseconds that the schedule has given up
}

// begin is when what follows begins by the schedule.
func (p *pacer) begin(now time.Time) time.Time {
	switch behind := now.Sub(p.due); {
	case p.due.IsZero():
		p.due = now
	case behind > mostBehind:
		p.lost.Add(int64(behind))
		p.due = now
	}
	return p.due
}

// take lets so much time pass since begin.
func (p *pacer) take(d time.Duration) {
	p.due = p.due.Add(d)
	sleep(time.Until(p.due), p.done)
}

// rest ends the schedule: what comes next does not follow directly.
func (p *pacer) rest() { p.due = time.Time{} }

// sleep waits for so long, or until done; it reports false then.
func sleep(d time.Duration, done <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-done:
		return false
	}
}
