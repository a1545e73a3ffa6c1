package probes

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"sync"
	"time"
)

// worker reads one probe for ever, one read at a time, on the grid began,
// began+every, … A read that takes longer than every skips the instants it missed.
type worker struct {
	probe Probe
	name  string
	every time.Duration
	began time.Time
	first chan struct{} // closed when the first read is over

	mu      sync.Mutex
	section Section // the newest; nil until there is one
	taken   bool    // a sample has it
	at      time.Time
	latency Opt[float64]
	err     string
	lacks   bool               // err is of something that this engine does not have
	since   Opt[time.Duration] // when the read that is out began, since began
}

// gatherer is a section that holds what happened since the previous read. When
// two reads end between two ticks the newer one has to take the older one in.
type gatherer interface{ after(older Section) Section }

func (w *worker) run(ctx context.Context) {
	if closer, ok := w.probe.(io.Closer); ok {
		defer func() { _ = recover() }() // a driver's parting panic must not take the screen down
		defer closer.Close()
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		w.readOnce(ctx)
		if n == 0 {
			close(w.first)
		}
		now := time.Since(w.began)
		timer.Reset(w.every - now%w.every)
	}
}

func (w *worker) readOnce(ctx context.Context) {
	began := time.Since(w.began)
	w.mu.Lock()
	w.since = Some(began)
	w.mu.Unlock()

	section, err := w.guard(ctx)
	if ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = Opt[time.Duration]{}
	w.latency = Some(Seconds(time.Since(w.began) - began))
	w.err, w.lacks = "", IsLacking(err)
	if err != nil {
		w.err = Printable(err.Error(), 300)
	}
	if section == nil {
		return
	}
	if g, ok := section.(gatherer); ok && w.section != nil && !w.taken {
		section = g.after(w.section)
	}
	w.section, w.taken, w.at = section, false, Stamp(time.Now())
}

// guard reads the probe and turns a panic, or a nil pointer dressed as a
// section, into what it means.
func (w *worker) guard(ctx context.Context) (section Section, err error) {
	defer func() {
		if p := recover(); p != nil {
			section, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	section, err = w.probe.Read(ctx)
	if v := reflect.ValueOf(section); section != nil && v.Kind() == reflect.Pointer && v.IsNil() {
		section = nil
	}
	return section, err
}

// take returns the newest section and the probe's state at mono.
func (w *worker) take(mono time.Duration) (Section, ProbeStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	status := ProbeStatus{Name: w.name, At: w.at, LatencySeconds: w.latency, Err: w.err, Lacks: w.lacks, EverySeconds: w.every.Seconds()}
	if since, ok := w.since.Get(); ok {
		status.PendingSeconds = Some(Seconds(max(0, mono-since)))
	}
	w.taken = true
	return w.section, status
}
