package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// quietAfter is how long a followed recording may not grow before the screen says so:
// its writer may be dead, and a screen that stands still looks like an engine at rest.
const quietAfter = 5 * time.Second

// quiet watches for a recording that does not grow.
type quiet struct {
	grown chan struct{}
	done  chan struct{}
	once  sync.Once
	ended chan struct{}
}

func (q *quiet) reset() {
	select {
	case q.grown <- struct{}{}:
	case <-q.ended:
	}
}

// stop ends the watch and waits for it.
func (q *quiet) stop() {
	q.once.Do(func() { close(q.done) })
	<-q.ended
}

// watchQuiet says on the screen for how long nothing came.
func (f *follower) watchQuiet(ctx context.Context, send func(func())) *quiet {
	q := &quiet{grown: make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(q.ended)
		t := time.NewTicker(quietAfter)
		defer t.Stop()
		for silent := time.Duration(0); ; {
			select {
			case <-q.done:
				return
			case <-ctx.Done():
				return
			case <-q.grown:
				silent = 0
				t.Reset(quietAfter)
			case <-t.C:
				silent += quietAfter
				said := fmt.Sprintf("nothing new in the recording for %s", silent)
				send(func() { f.viewer.catching = said })
			}
		}
	}()
	return q
}
