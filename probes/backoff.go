package probes

import (
	"errors"
	"time"
)

// Backoff spares a server that said it does not have a page: for a while the
// probe repeats that answer without asking. The zero value asks at once.
type Backoff struct {
	until time.Time
	err   error
}

// Err returns the remembered refusal while it lasts, else nil.
func (b *Backoff) Err() error {
	if b.err != nil && time.Now().Before(b.until) {
		return b.err
	}
	return nil
}

// Note remembers err for wait when it is a refusal (ErrNotExposed), and forgets
// the last one otherwise. It returns err.
func (b *Backoff) Note(err error, wait time.Duration) error {
	b.err = nil
	if errors.Is(err, ErrNotExposed) {
		b.err, b.until = err, time.Now().Add(wait)
	}
	return err
}
