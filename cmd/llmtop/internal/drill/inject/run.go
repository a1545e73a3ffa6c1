package inject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
)

// Runner runs drills on the real engine. The zero value does it as RunCPU.
type Runner struct {
	Exe     string                           // the program llmtop; empty: this one
	Log     func(format string, args ...any) // what happens, a line each; nil: nobody is told
	Healthy [2]time.Duration                 // the fault begins after a time between these; zero: 25 to 45 s
	Warm    time.Duration                    // at its beginning nothing is measured; 0: 5 s
	Tries   int                              // most runs until the symptom lies in its band; 0: 2
	Threads int                              // of the engine; 0: half of the cores

	make func(name string, with map[string]string) (Injector, error) // nil: New
}

// RunCPU runs an instance on the real engine, which takes about two minutes a try, leaves
// the recording at path (a new file) and says what is true of it. An error means that there
// was no run; a run that does not count has a Truth that says why. Ctx ends it, and leaves
// nothing behind.
func RunCPU(ctx context.Context, inst drill.Instance, path string) (drill.Truth, error) {
	return Runner{}.Run(ctx, inst, path)
}

// Run is RunCPU with the runner's settings.
func (r Runner) Run(ctx context.Context, inst drill.Instance, path string) (drill.Truth, error) {
	known, cpu, err := begin(inst)
	if err != nil || known.Discard != "" {
		return known, err
	}
	if _, err := os.Lstat(path); err == nil {
		return known, fmt.Errorf("%s: is there already", path)
	}
	if r, err = r.complete(); err != nil {
		return known, err
	}
	start := 0.0
	if cpu.Dial != nil {
		start = cpu.Dial.Start(inst.Severity)
	}
	gate := drill.NewGate(cpu.Dial, inst.Severity, r.Tries)
	for x, _ := gate.Next(start); ; {
		truth := known
		truth.Strength, truth.Tries = x, gate.Tries()+1
		err := r.try(ctx, inst, &truth, path)
		if lacks := Lacking(""); errors.As(err, &lacks) {
			truth.Discard = string(lacks)
			return truth, nil
		}
		if err != nil {
			os.Remove(path) // it may have come so far
			return truth, fmt.Errorf("drill %s: %w", inst.Drill.ID, err)
		}
		r.Log("try %d: strength %g, %s %.3g → %.3g, × %.2f; discard %q", truth.Tries, x, truth.Symptom, truth.Before, truth.During, truth.Ratio, truth.Discard)
		if truth.Ratio == 0 || inBand(&truth) {
			return truth, nil
		}
		gate.Saw(x, truth.Ratio)
		again, ok := gate.Next(start)
		if !ok {
			return truth, nil
		}
		if err := os.Remove(path); err != nil {
			return truth, err
		}
		x = again
	}
}

// begin is what is known before the run.
func begin(inst drill.Instance) (drill.Truth, *drill.OnCPU, error) {
	d := inst.Drill
	t := drill.Truth{
		Drill: d.ID, Kind: d.Kind, Engine: "cpu", Personality: "llmtop", Severity: inst.Severity, Seed: inst.Seed,
		Expects: d.Expects, Effects: d.Effects, Allows: d.Allows, SeenBy: d.SeenBy, Stage: d.Stage, Symptom: d.Symptom,
	}
	if len(t.Expects) == 0 && (d.Kind == drill.Fault || d.Kind == "") {
		id, _, _ := strings.Cut(d.ID, "_")
		t.Expects = []string{id}
	}
	switch {
	case d.CPU == nil:
		return t, nil, fmt.Errorf("drill %s is not one for the real engine", d.ID)
	case d.CPU.Skip != "":
		t.Discard = d.CPU.Skip
	case d.CPU.Dial != nil && d.CPU.Dial.Start(inst.Severity) == 0 && d.Kind != drill.Healthy:
		return t, nil, fmt.Errorf("drill %s cannot be %s on the real engine", d.ID, inst.Severity)
	}
	t.Symptom = cmp.Or(d.CPU.Symptom, d.Symptom)
	return t, d.CPU, nil
}

// complete fills in what was left out.
func (r Runner) complete() (Runner, error) {
	if r.Log == nil {
		r.Log = func(string, ...any) {}
	}
	if r.Healthy == [2]time.Duration{} {
		r.Healthy = [2]time.Duration{25 * time.Second, 45 * time.Second}
	}
	if r.Warm == 0 {
		r.Warm = 5 * time.Second
	}
	if r.Tries == 0 {
		r.Tries = 2
	}
	if r.make == nil {
		r.make = New
	}
	if r.Exe != "" {
		return r, nil
	}
	var err error
	r.Exe, err = os.Executable()
	return r, err
}

// injector makes the drill's, with {x} in its settings.
func (r Runner) injector(cpu *drill.OnCPU, x float64) (Injector, error) {
	with := map[string]string{}
	for name, text := range cpu.With {
		with[name] = strings.ReplaceAll(text, "{x}", strconv.FormatFloat(x, 'g', 6, 64))
	}
	return r.make(cpu.Inject, with)
}

// judge says whether the run counts: the symptom lies in its band, the injector and the
// recording bear the injection out, and the machine was the run's alone before.
func judge(t *drill.Truth, injected error, p proof) {
	var why []string
	if !inBand(t) {
		low, high := t.Severity.Band()
		switch {
		case t.Kind == drill.Healthy:
			why = append(why, fmt.Sprintf("nothing was done, and %s went × %.2f", t.Symptom, t.Ratio))
		case high > 1e6:
			why = append(why, fmt.Sprintf("%s went × %.2f, not more than %g", t.Symptom, t.Ratio, low))
		default:
			why = append(why, fmt.Sprintf("%s went × %.2f, not %g to %g", t.Symptom, t.Ratio, low, high))
		}
	}
	if injected != nil {
		why = append(why, "not injected: "+injected.Error())
	}
	if p.missing != nil {
		why = append(why, p.missing.Error())
	}
	if p.others > mostOthers {
		why = append(why, fmt.Sprintf("the machine was busy: before the fault others than the engine had %.0f %% of the cores", 100*p.others))
	}
	t.Discard = strings.Join(why, "; ")
}

// inBand reports that the ratio is what the severity asks for; of a control, that nothing
// was felt.
func inBand(t *drill.Truth) bool {
	low, high := t.Severity.Band()
	switch t.Kind {
	case drill.Healthy:
		low, high = 0, 1.3
	case drill.Note:
		low, high = 0, math.Inf(1)
	}
	return t.Ratio >= low && t.Ratio < high
}
