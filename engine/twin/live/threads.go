package live

import (
	"math"
	"sync"
	"time"
)

// leastWait is too short to be waited for by itself; the thread owes it to what comes next.
const leastWait = time.Millisecond

// threads do one thing after the other each. They keep to what the model says: that a timer
// of this machine is late makes one of them late, not all that wait for it.
type threads struct {
	mu    sync.Mutex
	free  []time.Time   // when each has done all that it was given
	usual time.Duration // what something usual takes
	turn  *turn         // the next, that ends what is now
}

// turn is a moment from which on all that is still to be done takes so many times as long.
type turn struct {
	come  chan struct{} // closed when it has
	at    time.Time
	times float64
	next  *turn
}

// after is when something is done that was to be done at a moment, once the turn has come.
func (u *turn) after(end time.Time) time.Time {
	if !end.After(u.at) {
		return end
	}
	return u.at.Add(times(end.Sub(u.at), 1, u.times))
}

// do waits until the first thread that is free has done something that takes d, or until done.
func (t *threads) do(d time.Duration, done <-chan struct{}) {
	now := time.Now()
	end, next := t.give(now, d)
	for {
		wait := end.Sub(now)
		if wait < leastWait {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
			return
		case <-done:
			timer.Stop()
			return
		case <-next.come:
			timer.Stop()
			end, next, now = next.after(end), next.next, time.Now()
		}
	}
}

// give gives a thread something to do; it says when that is done unless there is a turn before.
func (t *threads) give(now time.Time, d time.Duration) (end time.Time, next *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := &t.free[0]
	for i := range t.free {
		if t.free[i].Before(*first) {
			first = &t.free[i]
		}
	}
	if first.Before(now) {
		*first = now
	}
	*first = first.Add(d)
	if t.turn == nil {
		t.turn = &turn{come: make(chan struct{})}
	}
	return *first, t.turn
}

// resize makes them so many. What was to be done by those that go is done by others.
func (t *threads) resize(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.free) < n {
		t.free = append(t.free, time.Time{})
	}
	t.free = t.free[:n]
}

// leastTurn is the change of what things take from which on it is one for what waits as well.
const leastTurn = 0.1

// pace says what something usual takes from now on. What waits has not begun and takes as
// much more or less: once a slow tokenizer is fast again, so is what has queued for it.
func (t *threads) pace(now time.Time, usual time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.usual == 0 {
		t.usual = usual
		return
	}
	factor := float64(usual) / float64(t.usual)
	if math.Abs(factor-1) < leastTurn {
		return
	}
	t.usual = usual
	if t.turn == nil {
		return
	}
	was := t.turn
	was.at, was.times, was.next = now, factor, &turn{come: make(chan struct{})}
	for i := range t.free {
		t.free[i] = was.after(t.free[i])
	}
	t.turn = was.next
	close(was.come)
}
