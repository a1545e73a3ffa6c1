package inject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"llmtop/cmd/llmtop/internal/child"
	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/engine/load"
)

// everyday is the usual share of the capacity.
const everyday = 0.3

// usualLast is how long a fault lasts when the drill does not say.
const usualLast = 60 * time.Second

// try is one run of a drill with one strength. What it finds goes into truth.
func (r Runner) try(ctx context.Context, inst drill.Instance, truth *drill.Truth, path string) (err error) {
	dir, err := os.MkdirTemp("", "llmtop-run-")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cpu := inst.Drill.CPU
	s := &Site{Exe: r.Exe, Dir: dir, Seed: inst.Seed, Threads: cmp.Or(r.Threads, max(1, runtime.NumCPU()/2)), Serve: cpu.Serve, Log: r.Log}
	if s.Everyday, err = everydayStream(cpu.Load); err != nil {
		return err
	}
	t := &trial{Runner: r, site: s, inject: harmless{}, recording: filepath.Join(dir, "recording.llmrec")}
	if cpu.Inject != "" {
		if t.inject, err = r.injector(cpu, truth.Strength); err != nil {
			return err
		}
	}
	defer t.stop()
	if err := t.run(ctx, inst.Seed, cmp.Or(time.Duration(cpu.Lasts), usualLast)); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if err := move(t.recording, path); err != nil {
		return err
	}
	if err := t.measure(truth); err != nil {
		truth.Discard = err.Error()
		return nil
	}
	p, err := prove(ctx, t.recording, cpu.Confirm, t.onset, t.to)
	if err != nil {
		return err
	}
	truth.Confirmed = p.confirmed
	judge(truth, t.inject.Confirm(), p)
	return nil
}

// harmless is the injector of a control.
type harmless struct{}

func (harmless) Start(context.Context, *Site) error { return nil }
func (harmless) Stop() error                        { return nil }
func (harmless) Confirm() error                     { return nil }

// everydayStream is the everyday load with a drill's flags, of which --rate is a share of
// the capacity.
func everydayStream(flags []string) (Stream, error) {
	s := Stream{Share: everyday}
	for i := 0; i < len(flags); i++ {
		if flags[i] != "--rate" {
			s.Flags = append(s.Flags, flags[i])
			continue
		}
		if i++; i == len(flags) {
			return s, errors.New("load: --rate without a number")
		}
		share, err := strconv.ParseFloat(flags[i], 64)
		if err != nil || !(share > 0 && share <= 10) {
			return s, fmt.Errorf("load: --rate %q: no share of the capacity between 0 and 10", flags[i])
		}
		s.Share = share
	}
	return s, nil
}

// trial is a run with what belongs to it.
type trial struct {
	Runner
	site      *Site
	inject    Injector
	recorder  *child.Child
	recording string

	from, onset, to time.Time
	before, during  window // in which is measured
}

// run brings everything up, waits, injects, waits and ends everything.
func (t *trial) run(ctx context.Context, seed uint64, lasts time.Duration) error {
	s := t.site
	if err := t.prepare(ctx); err != nil {
		return err
	}
	t.Log("the engine serves %.1f requests/s; everyday load %.1f requests/s", s.Capacity, s.Everyday.Share*s.Capacity)
	var err error
	t.recorder, err = child.Command{Exe: s.Exe, Args: []string{"record", "-o", t.recording, s.URL}, Grace: 10 * time.Second}.Start(ctx)
	if err != nil {
		return err
	}
	t.from = time.Now()
	if s.Clients, err = s.Load(ctx, s.Everyday); err != nil {
		return err
	}
	draw := rand.New(rand.NewPCG(seed, onsetStream))
	spread := t.Healthy[1] - t.Healthy[0]
	if err := t.watch(ctx, t.Healthy[0]+time.Duration(draw.Float64()*float64(spread))); err != nil {
		return err
	}
	t.onset = time.Now()
	t.Log("it begins at %s", t.onset.UTC().Format(time.RFC3339Nano))
	if err := t.inject.Start(ctx, s); err != nil {
		return err
	}
	if err := t.watch(ctx, time.Until(t.onset.Add(lasts))); err != nil {
		return err
	}
	t.to = time.Now()
	t.before = window{t.from.Add(t.Warm), t.onset}
	t.during = window{t.onset.Add(t.to.Sub(t.onset) / 3), t.to}
	return t.end()
}

// onsetStream keeps the draw of the onset apart from others by the same seed.
const onsetStream = 0x0115e7

// prepare measures what the engine can serve, and starts another one for the run, so that
// its life begins healthy.
func (t *trial) prepare(ctx context.Context) error {
	s := t.site
	if p, ok := t.inject.(Preparer); ok {
		if err := p.Prepare(ctx, s); err != nil {
			return err
		}
	}
	if err := s.serve(ctx, "127.0.0.1:0", s.Serve...); err != nil {
		return err
	}
	var err error
	if s.Capacity, err = capacity(ctx, s.URL, s.Seed); err != nil {
		return fmt.Errorf("measuring what the engine can serve: %w", err)
	}
	s.Engine.Stop()
	if err := s.serve(ctx, "127.0.0.1:0", s.Serve...); err != nil {
		return err
	}
	s.LoadURL = s.URL
	if router, ok := t.inject.(Router); ok {
		s.LoadURL, err = router.Route(ctx, s.URL)
	}
	return err
}

// capacity fills the batch twice over at once and times how fast it empties: the requests
// per second that the engine serves of short questions. The better of two counts, as the
// first meets a cold engine and either a busy machine.
func capacity(ctx context.Context, url string, seed uint64) (most float64, err error) {
	for range 2 {
		begun := time.Now()
		report, err := load.Run(ctx, load.Config{URL: url, Rate: 800, Duration: 50 * time.Millisecond, Seed: int64(seed)})
		if err == nil && report.Completed == 0 {
			err = errors.New("no request completed")
		}
		if err != nil {
			return 0, err
		}
		most = max(most, float64(report.Completed)/time.Since(begun).Seconds())
	}
	return most, nil
}

// watch waits, and returns early when a part of the run has ended that should not.
func (t *trial) watch(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-t.recorder.Done():
		return t.recorder.Err()
	}
}

// end ends the recording first, so that what comes after the fault is not in it.
func (t *trial) end() error {
	t.recorder.Stop()
	err := t.inject.Stop()
	t.site.Clients.Stop()
	return err
}

// stop ends all there is, whatever state the run is in.
func (t *trial) stop() {
	if err := t.inject.Stop(); err != nil {
		t.Log("undoing the injection: %v", err)
	}
	for _, c := range []*child.Child{t.recorder, t.site.Clients, t.site.Engine} {
		if c != nil {
			c.Stop()
		}
	}
}

// measure puts the symptom of all requests, and the times, into truth.
func (t *trial) measure(truth *drill.Truth) (err error) {
	var all []load.Request
	for _, file := range t.site.requests {
		requests, err := readRequests(file)
		if err != nil {
			return err
		}
		all = append(all, requests...)
	}
	truth.From, truth.To, truth.Onset = t.from, t.to, t.onset
	if truth.Kind == drill.Healthy {
		truth.Onset = time.Time{}
	}
	if truth.Before, err = measure(truth.Symptom, all, t.before); err != nil {
		return err
	}
	during := t.during
	if truth.Symptom == failed { // what is in flight fails at the onset
		during.from = t.onset
	}
	if truth.During, err = measure(truth.Symptom, all, during); err != nil {
		return err
	}
	if truth.Before <= 0 {
		return fmt.Errorf("%s was %g before", truth.Symptom, truth.Before)
	}
	truth.Ratio = truth.During / truth.Before
	return nil
}

// move takes a file to a new place, on another file system too.
func move(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}
