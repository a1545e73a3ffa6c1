package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"llmtop/probes"
	"llmtop/probes/nvml"
)

// Time that a doctor takes: each read may take doctorDeadline, and there are two with
// doctorPause between them, so that counters have differences.
const (
	doctorDeadline = 5 * time.Second
	doctorGrace    = 100 * time.Millisecond // for a probe to notice that its time is up
	doctorPause    = time.Second
	doctorSettle   = 250 * time.Millisecond // until a source that is starting is asked again
	doctorClose    = time.Second            // for the probes' ends
)

// exam is how one probe fared.
type exam struct {
	probe probes.Probe
	name  string
	reads []examRead // two; one where the first did not come back, or would be the same again
}

// examRead is one read.
type examRead struct {
	section probes.Section
	err     error
	took    time.Duration
	hung    bool // it has not come back
}

// last is the newest read.
func (e *exam) last() examRead { return e.reads[len(e.reads)-1] }

// examine reads all probes at once, twice, and ends them. One that does not come back
// holds up none of the others, and is left behind.
func examine(ctx context.Context, list []probes.Scheduled, pause time.Duration) []*exam {
	exams := make([]*exam, len(list))
	var all sync.WaitGroup
	for i, s := range list {
		exams[i] = &exam{probe: s.Probe, name: probes.Printable(s.Probe.Name(), 80)}
		all.Go(func() { exams[i].run(ctx, pause) })
	}
	all.Wait()
	return exams
}

func (e *exam) run(ctx context.Context, pause time.Duration) {
	began := time.Now()
	first := e.read(ctx)
	for starting(first.section) && time.Since(began) < doctorDeadline && sleep(ctx, doctorSettle) {
		first = e.read(ctx)
		first.took = time.Since(began)
	}
	e.reads = append(e.reads, first)
	if first.hung || isWhole(first.section) || !sleep(ctx, pause) {
		return
	}
	e.reads = append(e.reads, e.read(ctx))
}

// read reads once, for at most the deadline.
func (e *exam) read(whole context.Context) (r examRead) {
	ctx, cancel := context.WithTimeout(whole, doctorDeadline)
	defer cancel()
	began := time.Now()
	done := make(chan examRead, 1)
	go func() {
		section, err := readGuarded(ctx, e.probe)
		done <- examRead{section: section, err: err}
	}()
	timer := time.NewTimer(doctorDeadline + doctorGrace)
	defer timer.Stop()
	select {
	case r = <-done:
	case <-timer.C:
		r.hung = true
	case <-whole.Done(): // the user has gone
		r.hung = true
	}
	r.took = time.Since(began)
	if r.hung || errors.Is(r.err, context.DeadlineExceeded) && r.took >= doctorDeadline {
		r.err = fmt.Errorf("no answer after %.0f s", doctorDeadline.Seconds())
	}
	return r
}

// readGuarded turns a panic, or a nil pointer dressed as a section, into what it means,
// as the collector does.
func readGuarded(ctx context.Context, p probes.Probe) (section probes.Section, err error) {
	defer func() {
		if x := recover(); x != nil {
			section, err = nil, fmt.Errorf("panic: %v", x)
		}
	}()
	section, err = p.Read(ctx)
	if v := reflect.ValueOf(section); section != nil && v.Kind() == reflect.Pointer && v.IsNil() {
		section = nil
	}
	return section, err
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// starting reports a driver that is being loaded, which can take seconds on a host with
// many GPUs, or whose first answers are not there yet.
func starting(s probes.Section) bool {
	g, ok := s.(*probes.GPU)
	if !ok || len(g.Devices) == 0 {
		return ok && strings.HasPrefix(g.Note, nvml.Starting)
	}
	return slices.ContainsFunc(g.Devices, func(d probes.GPUDevice) bool { return d.At.IsZero() && d.Err == "" })
}

// isWhole reports a section that needs no second one to be understood, and costs the
// engine something.
func isWhole(s probes.Section) bool {
	_, ok := s.(*probes.Profile)
	return ok
}

// endExams closes the probes that have come back, without waiting for long.
func endExams(exams []*exam) {
	var all sync.WaitGroup
	for _, e := range exams {
		if c, ok := e.probe.(io.Closer); ok && !e.last().hung {
			all.Go(func() { c.Close() })
		}
	}
	done := make(chan struct{})
	go func() { defer close(done); all.Wait() }()
	timer := time.NewTimer(doctorClose)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// withoutSearch leaves out the probe that keeps looking for engines: what is there is
// told by itself.
func withoutSearch(list []probes.Scheduled) []probes.Scheduled {
	return slices.DeleteFunc(list, func(s probes.Scheduled) bool { _, ok := s.Probe.(*search); return ok })
}
