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

// processEvery is how often the processes of a device are asked for: the dearest of all
// questions, and one for which the driver makes the workload wait.
const processEvery = 3 * time.Second

// worker is the one goroutine that calls the driver about one device.
type worker struct {
	index int
	dev   device
	root  string // of /sys
	now   func() time.Time
	asks  chan struct{}

	mu          sync.Mutex
	asked       time.Time     // when the question now out was asked; zero: none is out
	answer      chan struct{} // closed when it is answered
	latest      []probes.GPUDevice
	err         error // of the last answer
	held        bool  // asks nothing any more
	listing     bool  // the driver is asked for processes
	processes   []probes.GPUProcess
	processesAt time.Time // zero: none were told
	triedAt     time.Time // when they were asked for
	ear         ear       // whether the driver tells of errors
}

func newWorker(index int, d device, now func() time.Time) *worker {
	return &worker{index: index, dev: d, now: now, asks: make(chan struct{}, 1), latest: []probes.GPUDevice{{Index: index}}}
}

// ask asks for a reading, unless a question is still out, and returns what will
// be closed when there is an answer.
func (w *worker) ask() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held {
		none := make(chan struct{})
		close(none)
		return none
	}
	if w.asked.IsZero() {
		w.asked, w.answer = w.now(), make(chan struct{})
		w.asks <- struct{}{} // has room: no question is out
	}
	return w.answer
}

// hold makes it ask nothing any more, unless it is in a call: then it returns false.
func (w *worker) hold() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = w.asked.IsZero() && !w.listing
	return w.held
}

func (w *worker) unhold() { w.mu.Lock(); w.held = false; w.mu.Unlock() }

// run answers until ctx ends.
func (w *worker) run(ctx context.Context) {
	defer w.dev.release()
	var asleep slumber
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.asks:
		}
		if asleep.at(w.root, w.identity().PCIAddress) {
			w.take(nil, errAsleep)
			continue
		}
		devices, err := w.dev.read()
		if w.take(devices, err) { // the reading does not wait for the processes
			list, ok := w.dev.processes()
			w.takeProcesses(list, ok)
		}
	}
}

// take keeps an answer and says whether it is time to ask for processes.
func (w *worker) take(devices []probes.GPUDevice, err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	now := w.now()
	switch {
	case len(devices) == 0:
	case err == nil:
		for i := range devices {
			devices[i].Index, devices[i].At = w.index, probes.Stamp(now)
		}
		w.latest = devices
	case w.latest[0].UUID == "":
		w.latest[0].UUID, w.latest[0].Name, w.latest[0].PCIAddress = devices[0].UUID, devices[0].Name, devices[0].PCIAddress
	}
	w.asked = time.Time{}
	close(w.answer)
	w.listing = err == nil && (w.triedAt.IsZero() || now.Sub(w.triedAt) >= processEvery)
	if w.listing {
		w.triedAt = now
	}
	return w.listing
}

func (w *worker) takeProcesses(list []probes.GPUProcess, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listing = false
	if w.processes, w.processesAt = list, w.now(); !ok {
		w.processesAt = time.Time{}
	}
}

// addProcesses adds to the section who uses the device. The section's time is that of
// the oldest list in it.
func (w *worker) addProcesses(to *probes.GPU, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.processesAt.IsZero() || now.Sub(w.processesAt) > 3*processEvery {
		return
	}
	to.Processes = append(to.Processes, w.processes...)
	if at := probes.Stamp(w.processesAt); to.ProcessesAt.IsZero() || at.Before(to.ProcessesAt) {
		to.ProcessesAt = at
	}
}

// failing says that the last answer was an error and no call is stuck.
func (w *worker) failing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	stuck := !w.asked.IsZero() && w.now().Sub(w.asked) > staleAfter
	return w.err != nil && !errors.Is(w.err, errAsleep) && !stuck
}

// identity is the device as last read.
func (w *worker) identity() probes.GPUDevice {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest[0]
}

// at is the device and its MIG instances as known at now: the last reading while it is
// fresh, else who it is, when it was last read, and what is wrong.
func (w *worker) at(now time.Time) []probes.GPUDevice {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Clone(w.latest)
	why, text, ok := w.trouble(now)
	for i := range out {
		if !ok {
			out[i] = out[i].WithoutReadings(why)
		}
		out[i].Err, out[i].Asleep = text, errors.Is(w.err, errAsleep)
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
	case errors.Is(w.err, errAsleep):
		return probes.Stale, "", false
	case w.err != nil:
		return probes.Stale, w.err.Error(), false
	case !w.latest[0].At.IsZero() && now.Sub(w.latest[0].At) > staleAfter:
		return probes.Stale, "", false
	}
	return 0, "", true
}
