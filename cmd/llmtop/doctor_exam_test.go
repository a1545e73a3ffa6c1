package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
	"llmtop/probes/cpuprofile"
)

// scripted is a probe whose nth read does what the nth step says; the last one stays.
type scripted struct {
	name   string
	steps  []func(context.Context) (probes.Section, error)
	reads  atomic.Int32 // by goroutines that may be left behind
	closed bool
}

func (s *scripted) Name() string { return s.name }

func (s *scripted) Read(ctx context.Context) (probes.Section, error) {
	return s.steps[min(int(s.reads.Add(1)), len(s.steps))-1](ctx)
}

func (s *scripted) Close() error { s.closed = true; return nil }

type step = func(context.Context) (probes.Section, error)

func give(s probes.Section, err error) step {
	return func(context.Context) (probes.Section, error) { return s, err }
}

func after(d time.Duration, s probes.Section) step {
	return func(context.Context) (probes.Section, error) { <-time.After(d); return s, nil }
}

func heeds(ctx context.Context) (probes.Section, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestExamine(t *testing.T) {
	host := &probes.Host{CPUs: 4}
	starting := &probes.GPU{Note: "NVML is starting"}
	for _, c := range []struct {
		name  string
		steps []step
		state string
		err   string
		reads int // reported
		asked int
	}{
		{"well", []step{give(host, nil)}, probeOK, "", 2, 2},
		{"recovers", []step{give(nil, errors.New("not yet")), give(host, nil)}, probeOK, "", 2, 2},
		{"fails", []step{give(host, nil), give(nil, errors.New("it\x1b broke"))}, probeFailed, "it broke", 2, 2},
		{"lacks", []step{give(nil, probes.Lacking(errors.New("no such page")))}, probeLacks, "no such page", 2, 2},
		{"another is at it", []step{give(nil, cpuprofile.ErrBusy)}, probeBusy, cpuprofile.ErrBusy.Error(), 2, 2},
		{"panics", []step{func(context.Context) (probes.Section, error) { panic("at the disco") }}, probeFailed, "panic: at the disco", 2, 2},
		{"nil in disguise", []step{give((*probes.Host)(nil), nil)}, probeOK, "", 2, 2},
		{"heeds the deadline", []step{heeds}, probeFailed, "no answer after 5 s", 2, 2},
		{"hangs", []step{after(time.Hour, host)}, probeHung, "no answer after 5 s", 1, 1},
		{"hangs later", []step{give(host, nil), after(time.Hour, host)}, probeHung, "no answer after 5 s", 2, 2},
		{"a profile", []step{give(&probes.Profile{Seconds: 3}, nil)}, probeOK, "", 1, 1},
		{"starts", []step{give(starting, nil), give(starting, nil), give(&probes.GPU{Devices: []probes.GPUDevice{{At: time.Now()}}}, nil)}, probeOK, "", 2, 4},
		{"starts for ever", []step{give(starting, nil)}, probeOK, "", 2, 22},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &scripted{name: c.name, steps: c.steps}
				began := time.Now()
				e := examine(t.Context(), []probes.Scheduled{{Probe: p}}, doctorPause)[0]
				took := time.Since(began)
				r := e.report()
				endExams([]*exam{e})
				if r.State != c.state || r.Error != c.err || len(r.Seconds) != c.reads || int(p.reads.Load()) != c.asked {
					t.Errorf("got %+v after %d reads", r, p.reads.Load())
				}
				if most := 2*(doctorDeadline+doctorGrace) + doctorPause; took > most {
					t.Errorf("took %v, at most %v", took, most)
				}
				if p.closed == e.last().hung {
					t.Errorf("closed %v, hung %v", p.closed, e.last().hung)
				}
				time.Sleep(time.Hour) // the hung read comes back, or the bubble would complain
			})
		})
	}
}

// One that hangs holds up none of the others, and everything ends in time.
func TestExamineTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list []probes.Scheduled
		for range 6 {
			list = append(list, probes.Scheduled{Probe: &scripted{name: "stuck", steps: []step{after(time.Hour, nil)}}})
		}
		well := &scripted{name: "well", steps: []step{give(&probes.Host{CPUs: 2}, nil)}}
		list = append(list, probes.Scheduled{Probe: well})
		began := time.Now()
		exams := examine(t.Context(), list, doctorPause)
		r := newDoctorReport(exams, frameReport{})
		if took := time.Since(began); took > 15*time.Second-findBudget {
			t.Errorf("took %v", took)
		}
		r.conclude()
		if r.Sections.Host == nil || r.Sections.Host.CPUs != 2 || r.Before.Host == nil || len(r.Broken) != 6 || !strings.HasSuffix(r.Broken[0], "no answer after 5 s") {
			t.Errorf("got %+v", r)
		}
		time.Sleep(time.Hour)
	})
}

func TestExamineIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		well := &scripted{name: "well", steps: []step{give(&probes.Host{}, nil)}}
		stuck := &scripted{name: "stuck", steps: []step{after(time.Hour, nil)}}
		began := time.Now()
		examine(ctx, []probes.Scheduled{{Probe: well}, {Probe: stuck}}, doctorPause)
		synctest.Wait()
		if took := time.Since(began); took > 0 || well.reads.Load() != 1 || stuck.reads.Load() != 1 {
			t.Errorf("took %v, %d and %d reads", took, well.reads.Load(), stuck.reads.Load())
		}
		time.Sleep(time.Hour)
	})
}
