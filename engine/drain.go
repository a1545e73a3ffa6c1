package engine

import "context"

// Drain refuses new requests from now on and returns when those in flight have been
// answered, or with the error of ctx when that ends first. The loop goes on; who
// called ends it then.
func (e *Engine) Drain(ctx context.Context) error {
	e.mu.Lock()
	e.draining = true
	e.mu.Unlock()
	select {
	case <-e.log.idle():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// InFlight is the number of requests that have arrived and are not answered yet.
func (e *Engine) InFlight() int {
	_, n := e.log.inFlight(0)
	return n
}

// admits is an error while the engine drains. A request's record is open before it
// asks: whoever is let in is waited for.
func (e *Engine) admits() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.draining {
		return unavailable(errDraining.Error())
	}
	return nil
}
