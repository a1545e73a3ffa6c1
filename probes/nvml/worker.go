package nvml

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"llmtop/probes"
)

// worker is the one goroutine that calls the driver about one device.
type worker struct {
	index int
	dev   device
	now   func() time.Time
	asks  chan struct{}

	mu     sync.Mutex
	asked  time.Time     // when the question now out was asked; zero: none is out
	answer chan struct{} // closed when it is answered
	latest probes.GPUDevice
	err    error // of the last answer
}

func newWorker(index int, d device, now func() time.Time) *worker {
	return &worker{index: index, dev: d, now: now, asks: make(chan struct{}, 1), latest: probes.GPUDevice{Index: index}}
}

// ask asks for a reading, unless a question is still out, and returns what will
// be closed when there is an answer.
func (w *worker) ask() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked.IsZero() {
		w.asked, w.answer = w.now(), make(chan struct{})
		w.asks <- struct{}{} // has room: no question is out
	}
	return w.answer
}

// run answers until ctx ends.
func (w *worker) run(ctx context.Context) {
	defer w.dev.release()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.asks:
		}
		d, err := w.dev.read()
		w.take(d, err)
	}
}

func (w *worker) take(d probes.GPUDevice, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	if err == nil {
		d.Index, d.At = w.index, probes.Stamp(w.now())
		w.latest = d
	} else if w.latest.UUID == "" {
		w.latest.UUID, w.latest.Name = d.UUID, d.Name
	}
	if d.XidTotal.Seen() { // a lost device's, too
		w.latest.XidTotal, w.latest.LastXid = d.XidTotal, d.LastXid
	}
	w.asked = time.Time{}
	close(w.answer)
}

// failing says that the last answer was an error and no call is stuck.
func (w *worker) failing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	stuck := !w.asked.IsZero() && w.now().Sub(w.asked) > staleAfter
	return w.err != nil && !stuck
}

// at is the device as known at now: the last reading while it is fresh, else who
// it is, when it was last read, and what is wrong.
func (w *worker) at(now time.Time) probes.GPUDevice {
	w.mu.Lock()
	defer w.mu.Unlock()
	out, waiting := w.latest, time.Duration(0)
	if !w.asked.IsZero() {
		waiting = now.Sub(w.asked)
	}
	switch {
	case waiting > staleAfter:
		out.Err = fmt.Sprintf("no answer from the driver for %.0f s", waiting.Seconds())
		return out.WithoutReadings(probes.Stale)
	case errors.Is(w.err, errLost):
		out.Err = w.err.Error()
		return out.WithoutReadings(probes.Lost)
	case w.err != nil:
		out.Err = w.err.Error()
		return out.WithoutReadings(probes.Stale)
	case !out.At.IsZero() && now.Sub(out.At) > staleAfter:
		return out.WithoutReadings(probes.Stale)
	}
	return out
}
