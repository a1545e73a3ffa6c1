package engine

import (
	"errors"
	"fmt"
	"time"
)

// phase is where in its life the engine is.
type phase uint8

const (
	created phase = iota // Run has not been called
	looping
	stopped
)

// state is what the loop publishes of itself.
type state struct {
	Stats
	turned   time.Time // when the loop has published this,
	resting  bool      // and whether it waits since then
	failures int       // steps that failed, one after the other
}

// publish shows the loop's state to handlers; the caller holds mu.
func (e *Engine) publish() {
	e.state = state{Stats: e.scheduler.Stats(), turned: e.config.Now(), failures: e.failures}
}

// rest shows that the loop has nothing to do for now.
func (e *Engine) rest() {
	e.mu.Lock()
	e.state.resting = true
	e.mu.Unlock()
}

// snapshot is the loop's state together with what it has not seen yet.
func (e *Engine) snapshot() state {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.state
	for _, c := range e.inbox {
		if !c.cancel {
			s.Waiting[c.job.seq.Class.index()]++
		}
	}
	return s
}

// Why the engine does not serve.
var (
	errNotStarted = errors.New("the engine has not started yet")
	errDraining   = errors.New("the engine is draining: it finishes what it has and takes nothing new")
	errStopped    = errors.New("the engine has stopped")
)

// stallAfter is how long the loop may take for a turn, which is one step, until the
// engine calls itself stuck.
const stallAfter = 30 * time.Second

// failuresKept is how many steps may fail one after the other until the engine calls
// itself broken.
const failuresKept = 3

// live is nil while the loop can be expected to go on: else only a new process helps.
func (e *Engine) live() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.phase == stopped {
		return errStopped
	}
	if e.phase == looping && !e.state.resting {
		if d := e.config.Now().Sub(e.state.turned); d > stallAfter {
			return fmt.Errorf("the engine's loop has been busy with one step for %s", d.Round(time.Second))
		}
	}
	return nil
}

// ready is nil while new requests are served: a balancer may send some.
func (e *Engine) ready() error {
	if err := e.live(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.phase == created:
		return errNotStarted
	case e.draining:
		return errDraining
	case e.state.failures >= failuresKept:
		return fmt.Errorf("the last %d steps failed", e.state.failures)
	}
	return nil
}
