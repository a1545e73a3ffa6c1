package main

import (
	"context"
	"errors"
	"io"
	"time"

	"llmtop/probes"
	"llmtop/probes/nvml"
	"llmtop/probes/simulated"
)

// simulations is the probe of what an engine simulates, if it does.
func (t *target) simulations() probes.Probe {
	p := simulated.New(t.url, simulated.Options{Access: t.access})
	t.twin.Store(p)
	return p
}

// simulated reports an engine that has said that it is.
func (t *target) simulated() bool {
	p := t.twin.Load()
	return p != nil && p.Simulated()
}

// real makes probes of this host leave off while an engine is simulated: its GPUs and its
// host are simulated as well, and this one would be taken for it.
func (a *attached) real(list []probes.Scheduled) []probes.Scheduled {
	for i := range list {
		list[i].Probe = &realProbe{list[i].Probe, a}
	}
	return list
}

// realProbe is one of them.
type realProbe struct {
	probes.Probe
	to *attached
}

var errSimulated = probes.Lacking(errors.New("not read: the engine is simulated, and so are its GPUs and its host"))

// Read reads the probe, unless an engine is simulated; what was read before is then no more.
func (r *realProbe) Read(ctx context.Context) (probes.Section, error) {
	if r.to.simulated(ctx) {
		return nothingRead{}, errSimulated
	}
	return r.Probe.Read(ctx)
}

// Close ends the probe.
func (r *realProbe) Close() error {
	if c, ok := r.Probe.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Calls are those to a driver, of the probe that makes them.
func (r *realProbe) Calls() []nvml.Call {
	if c, ok := r.Probe.(interface{ Calls() []nvml.Call }); ok {
		return c.Calls()
	}
	return nil
}

// nothingRead is a section of nothing.
type nothingRead struct{}

func (nothingRead) AddTo(*probes.Sample) {}

// askTwins is how long engines may take to say whether they are simulated until this host is read.
const askTwins = 100 * time.Millisecond

// simulated reports that one of the engines attached to is. At the start it waits for them to say so.
func (a *attached) simulated(ctx context.Context) bool {
	timer := time.NewTimer(askTwins)
	defer timer.Stop()
	for _, t := range a.all() {
		p := t.twin.Load()
		if p == nil {
			continue
		}
		select {
		case <-p.Asked():
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
		if p.Simulated() {
			return true
		}
	}
	return false
}
