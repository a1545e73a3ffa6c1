package nvml

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	asked  time.Time          // when the question now out was asked; zero: none is out
	answer chan struct{}      // closed when it is answered
	latest []probes.GPUDevice // the device, then its MIG instances
	err    error              // of the last answer
}

func newWorker(index int, d device, now func() time.Time) *worker {
	return &worker{index: index, dev: d, now: now, asks: make(chan struct{}, 1), latest: []probes.GPUDevice{{Index: index}}}
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
		w.take(w.dev.read())
	}
}

func (w *worker) take(devices []probes.GPUDevice, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	if err == nil {
		for i := range devices {
			devices[i].Index, devices[i].At = w.index, probes.Stamp(w.now())
		}
		w.latest = devices
	} else if w.latest[0].UUID == "" {
		w.latest[0].UUID, w.latest[0].Name = devices[0].UUID, devices[0].Name
	}
	if d := devices[0]; d.XidTotal.Seen() { // a lost device's, too
		w.latest[0].XidTotal, w.latest[0].LastXid = d.XidTotal, d.LastXid
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

// at is the device and its MIG instances as known at now: the last reading while it is
// fresh, else who it is, when it was last read, and what is wrong.
func (w *worker) at(now time.Time) []probes.GPUDevice {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Clone(w.latest)
	if why, text, ok := w.trouble(now); !ok {
		for i := range out {
			out[i] = out[i].WithoutReadings(why)
			out[i].Err = text
		}
	}
	return out
}

// trouble is why the last reading does not stand for now, and what is wrong then.
func (w *worker) trouble(now time.Time) (why probes.Absence, text string, ok bool) {
	waiting := time.Duration(0)
	if !w.asked.IsZero() {
		waiting = now.Sub(w.asked)
	}
	switch {
	case waiting > staleAfter:
		return probes.Stale, fmt.Sprintf("no answer from the driver for %.0f s", waiting.Seconds()), false
	case errors.Is(w.err, errLost):
		return probes.Lost, w.err.Error(), false
	case w.err != nil:
		return probes.Stale, w.err.Error(), false
	case !w.latest[0].At.IsZero() && now.Sub(w.latest[0].At) > staleAfter:
		return probes.Stale, "", false
	}
	return 0, "", true
}
