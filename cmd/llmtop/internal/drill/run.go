package drill

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"llmtop/engine/twin"
	"llmtop/probes"
)

// Recording is a file that a run left, and the sources that were left out of it.
type Recording struct {
	Path    string
	Missing []string
}

// RunTwin runs an instance on the twin and writes its recording, which must be a new file, to the
// first of the paths; further recordings are of the same run with sources left out. The strength
// is searched until the main symptom lies in its band; when none does, the recordings are of the
// run that came nearest and Truth.Discard says so. The same instance makes the same truth and
// the same bytes. An error is of what could not be run or written; no file is left then.
func RunTwin(ctx context.Context, i Instance, path string, more ...Recording) (Truth, error) {
	to := append([]Recording{{Path: path}}, more...)
	if i.Drill.Kind == Healthy {
		return i.runControl(ctx, to)
	}
	return i.runFault(ctx, to)
}

// take is one run, kept.
type take struct {
	staged
	x              float64
	samples        []*probes.Sample
	before, during float64
	unmeasured     error // why there is no ratio
}

func (t *take) ratio() float64 {
	if t.unmeasured != nil || t.before <= 0 {
		return 1
	}
	return t.during / t.before
}

// runFault searches the strength, each try a run of its own with the same luck.
func (i *Instance) runFault(ctx context.Context, to []Recording) (Truth, error) {
	d := i.Drill
	dial := d.Twin.Dial
	gate := NewGate(dial, i.Severity, mostTries)
	if !d.harmful() { // nothing is sought
		gate.most = 1
	}
	var best *take
	for {
		x, ok := gate.Next(dial.Start(i.Severity))
		if !ok {
			break
		}
		t, err := i.try(ctx, x)
		if err != nil {
			return Truth{}, err
		}
		gate.Saw(x, t.ratio())
		if gate.Nearest() == gate.Tries()-1 {
			best = t
		}
		if gate.Within(t.ratio()) {
			break
		}
	}
	truth := i.truth(&best.staged)
	truth.Before, truth.During, truth.Ratio = best.before, best.during, best.ratio()
	truth.Strength, truth.Tries = best.x, gate.Tries()
	if best.unmeasured != nil {
		truth.Ratio = 0
	}
	var err error
	if truth.Confirmed, err = best.confirm(d.Twin.Confirm); err != nil {
		truth.Discard = err.Error()
	}
	if d.harmful() && !gate.Within(best.ratio()) {
		truth.Discard = gate.Why(d.Symptom)
	}
	if d.harmful() && best.unmeasured != nil {
		truth.Discard = best.unmeasured.Error()
	}
	return truth, best.write(ctx, to)
}

// try runs the instance with a strength and keeps all that was to be seen.
func (i *Instance) try(ctx context.Context, x float64) (*take, error) {
	t := &take{x: x}
	var err error
	if t.staged, err = i.stage(x); err != nil {
		return nil, err
	}
	var m *measure
	err = t.run(ctx, func(run *twin.Run, s *probes.Sample) error {
		if m == nil {
			m = newMeasure(i.Drill.Symptom, &t.staged, run.Tally)
		}
		m.observe(s)
		t.samples = append(t.samples, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if i.Drill.Symptom != "" {
		t.before, t.during, t.unmeasured = m.result(t.samples[len(t.samples)-1])
	}
	return t, nil
}

// run runs a scenario in virtual time with everything visible.
func (s *staged) run(ctx context.Context, each func(*twin.Run, *probes.Sample) error) error {
	open := s.Scenario
	open.Without = nil
	run, err := twin.New(open)
	if err != nil {
		return err
	}
	for {
		sample, err := run.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = each(run, sample)
		}
		if err != nil {
			return err
		}
	}
}

// confirm reads the signals of what was kept.
func (t *take) confirm(all []Confirm) ([]Confirmation, error) {
	c, err := NewConfirmer(all, t.onset(), t.end())
	if err != nil {
		return nil, err
	}
	if len(all) > 0 {
		for _, s := range t.samples {
			c.Observe(s)
		}
	}
	return c.Result()
}

func (t *take) write(ctx context.Context, to []Recording) error {
	w, err := newWriters(&t.staged, to)
	if err != nil {
		return err
	}
	for _, s := range t.samples {
		if err := w.add(ctx, s); err != nil {
			w.discard()
			return err
		}
	}
	return w.close(ctx)
}

func (s *staged) onset() time.Time { return s.Start.Add(s.Onset) }
func (s *staged) end() time.Time   { return s.Start.Add(s.Duration) }

// truth is what is known of a run before it was measured.
func (i *Instance) truth(s *staged) Truth {
	d := i.Drill
	t := Truth{
		Drill: d.ID, Kind: d.Kind, Engine: i.Engine, Severity: i.Severity, Seed: i.Seed,
		Expects: d.Expects, Effects: d.Effects, Allows: d.Allows, SeenBy: d.SeenBy, Stage: d.Stage, Symptom: d.Symptom,
		World: i.World.Name, Personality: s.Personality, Missing: s.Without, From: s.Start, To: s.end(),
	}
	if d.Kind != Healthy {
		t.Onset = s.onset()
	}
	return t
}

// Of is the truth of a recording of the same run with sources left out.
func (t Truth) Of(r Recording) Truth {
	all := slices.Concat(t.Missing, r.Missing)
	slices.Sort(all)
	t.Missing = slices.Compact(all)
	return t
}
