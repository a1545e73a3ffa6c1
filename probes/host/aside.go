package host

import "time"

const (
	someWait = 20 * time.Millisecond // how long a read aside is usually waited for
	overdue  = 2 * time.Second       // after which what was read before stands no more
)

// aside makes reads that may never return, as of a network file system that is gone or of
// a driver that hangs: on a goroutine of its own, never a second one while one is out. The
// goroutine of a read that hangs ends when the kernel lets it go.
type aside[T any] struct {
	patience time.Duration // how long a read is waited for

	out   chan T    // brings what the read that is out finds; nil: none is out
	began time.Time // when the last read began
	last  T
	known bool // there is a last
}

// every reads anew when that long has passed, and returns what the last read that ended
// found; false when none has, or one is out for too long.
func (a *aside[T]) every(pace time.Duration, now time.Time, read func() T) (T, bool) {
	a.take()
	if a.out == nil && (a.began.IsZero() || now.Sub(a.began) >= pace) {
		a.begin(now, read)
	}
	return a.last, a.known && (a.out == nil || now.Sub(a.began) < overdue)
}

// fresh reads anew and returns what that read found; false when it is not back in time.
func (a *aside[T]) fresh(now time.Time, read func() T) (T, bool) {
	if a.take(); a.out != nil {
		return a.last, false
	}
	a.begin(now, read)
	return a.last, a.out == nil
}

// hangs reports whether a read is out.
func (a *aside[T]) hangs() bool {
	a.take()
	return a.out != nil
}

// begin starts a read and waits for it a moment.
func (a *aside[T]) begin(now time.Time, read func() T) {
	out := make(chan T, 1)
	a.out, a.began = out, now
	go func() { out <- read() }()
	timer := time.NewTimer(a.patience)
	defer timer.Stop()
	select {
	case v := <-out:
		a.ended(v)
	case <-timer.C:
	}
}

// take takes what has come back meanwhile.
func (a *aside[T]) take() {
	select {
	case v := <-a.out: // never, when none is out
		a.ended(v)
	default:
	}
}

func (a *aside[T]) ended(v T) { a.last, a.known, a.out = v, true, nil }
