package inject

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// restart is the engine restarted, with another configuration or as it was.
//
//	flags  of serve that it gets besides its own: "--max-num-seqs 2"
//	away   how long there is no engine in between
//	times  how often; each `every` after the one before
type restart struct {
	flags       []string
	away, every time.Duration
	times       int

	site   *Site
	first  int // process number before
	done   int
	cancel context.CancelFunc
	over   chan struct{}
	err    error // of the later restarts; read when over is closed
}

func newRestart(with Settings) (Injector, error) {
	r := &restart{flags: with.Words("flags"), cancel: func() {}}
	var err1, err2, err3 error
	r.away, err1 = with.Duration("away", 0, 0, time.Minute)
	r.every, err2 = with.Duration("every", 10*time.Second, time.Second, time.Minute)
	times, err3 := with.Number("times", 1, 1, 20)
	r.times = int(times)
	return r, errors.Join(err1, err2, err3)
}

func (r *restart) Start(ctx context.Context, s *Site) error {
	r.site, r.first = s, s.Engine.PID()
	if err := r.once(ctx); err != nil || r.times == 1 {
		return err
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.over = make(chan struct{})
	go r.again(ctx)
	return nil
}

func (r *restart) once(ctx context.Context) error {
	if err := r.site.Restart(ctx, r.away, r.flags...); err != nil {
		return fmt.Errorf("restarting the engine: %w", err)
	}
	r.done++
	return nil
}

// again restarts the engine until it was done often enough or ctx ends.
func (r *restart) again(ctx context.Context) {
	defer close(r.over)
	for r.done < r.times {
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.every):
		}
		if err := r.once(ctx); err != nil {
			if ctx.Err() == nil {
				r.err = err
			}
			return
		}
	}
}

// Stop lets no further restart begin; the engine is the run's to end.
func (r *restart) Stop() error {
	r.cancel()
	if r.over != nil {
		<-r.over
	}
	return nil
}

// Confirm asks for another process than before, as often as was meant or as there was time for.
func (r *restart) Confirm() error {
	switch {
	case r.site == nil || r.done == 0 || r.site.Engine.PID() == r.first:
		return errors.New("the engine was not restarted")
	case r.err != nil:
		return r.err
	}
	return nil
}
