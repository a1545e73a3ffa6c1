package seams

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"llmtop/engine"
)

// door is a lock that each request takes on its way to the scheduler, at the engine's
// observer seam. Somebody else holds it for a share of the time, idly, as a thread does
// that waits for something else while it holds a lock.
type door struct {
	watching
	lock sync.Mutex

	mu  sync.Mutex
	end func() // of the one who holds it; nil: nobody does
}

// The bounds of how often the lock is taken.
const (
	shortestHold = time.Millisecond
	longestHold  = time.Minute
)

// control takes the share of the time, and of how long.
func (d *door) control(words []string) error {
	share, err := parseShare(words[0])
	if err != nil {
		return err
	}
	every, err := time.ParseDuration(words[1])
	if err != nil || every < shortestHold || every > longestHold {
		return fmt.Errorf("%q is no time between %s and %s", words[1], shortestHold, longestHold)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.end != nil {
		d.end()
		d.end = nil
	}
	if held := time.Duration(share * float64(every)); held > 0 {
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan struct{})
		go func() {
			defer close(over)
			d.hold(ctx, held, every-held)
		}()
		d.end = func() { cancel(); <-over }
	}
	return nil
}

// parseShare reads a share of the time; all of it is none, as nothing would go on.
func parseShare(text string) (float64, error) {
	share, err := strconv.ParseFloat(text, 64)
	if err != nil || !(share >= 0 && share < 1) {
		return 0, fmt.Errorf("%q is no share from 0 to below 1", text)
	}
	return share, nil
}

// hold has the lock and leaves it in turns until ctx ends.
func (d *door) hold(ctx context.Context, held, free time.Duration) {
	for ctx.Err() == nil {
		d.lock.Lock()
		pause(ctx, held)
		d.lock.Unlock()
		pause(ctx, free)
	}
}

func pause(ctx context.Context, t time.Duration) {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Queued is called by the handler of a request between its last stage and the scheduler.
func (d *door) Queued(*engine.Observed) {
	d.lock.Lock()
	defer d.lock.Unlock()
}

// watching is an observer that does nothing.
type watching struct{}

func (watching) Arrived(time.Time, int64)     {}
func (watching) Stage(engine.Stage, int)      {}
func (watching) Queued(*engine.Observed)      {}
func (watching) Admitted(*engine.Observed)    {}
func (watching) First(*engine.Observed)       {}
func (watching) Finished(*engine.Observed)    {}
func (watching) Begins(*engine.Scheduler)     {}
func (watching) Stepped(*engine.ObservedStep) {}
func (watching) Rests()                       {}
