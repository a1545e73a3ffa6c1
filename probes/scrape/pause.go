package scrape

import (
	"context"
	"errors"
	"time"
)

// What a page costs that is of no use: after an answer that had to be thrown away, or
// cut down, the server is left alone for ten times as long as it took, at most 5 s. So
// a server that sends endless pages takes a tenth of a core at most, and one that is
// refused in a millisecond is asked again at the next tick.
const (
	pauseTimes = 10
	pauseMost  = 5 * time.Second
)

// pause repeats an error until its time is over. The zero value has none.
type pause struct {
	until time.Time
	err   error
}

// running returns the error while the pause lasts, else nil.
func (p *pause) running(now time.Time) error {
	if now.Before(p.until) {
		return p.err
	}
	return nil
}

// note begins a pause after a read from began to now that ended in err. Waiting for an
// answer that never came cost nothing: a server that hangs is asked again at once.
func (p *pause) note(err error, began, now time.Time) {
	*p = pause{}
	if err == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return
	}
	p.err, p.until = err, now.Add(min(pauseTimes*now.Sub(began), pauseMost))
}
