package machine_test

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/machine"
	"llmtop/probes"
	"llmtop/probes/frames"
	"llmtop/probes/record"
)

// shares of the last seconds of a replica, as the product reads them.
func shares(t *testing.T, w *world) *probes.ProfileFacts {
	t.Helper()
	p, err := w.Profile(0, began.Add(w.now), 10)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := frames.Facts(p)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// Each part of the work is found under its own name, in proportion to the CPU that it took.
func TestProfileTellsTheParts(t *testing.T) {
	purposes := []struct {
		part  machine.Part
		what  string
		of    []string // engines that tell it so; nil: all
		least float64  // share of the part that is so called, at least
	}{
		{machine.Receive, frames.JSON, []string{"vllm", "llmtop"}, 0.45},
		{machine.Tokenize, frames.Tokenize, nil, 0.99},
		{machine.Assemble, frames.Tokenize, []string{"vllm", "sglang", "tgi", "trtllm", "llmtop"}, 0.99},
		{machine.GrammarCompile, frames.Grammar, []string{"vllm", "sglang", "tgi", "trtllm", "llamacpp"}, 0.99},
		{machine.GrammarMask, frames.Grammar, []string{"vllm", "sglang", "tgi", "trtllm", "llamacpp"}, 0.99},
		{machine.Schedule, frames.Scheduler, []string{"vllm", "sglang", "tgi", "trtllm", "llmtop"}, 0.99},
		{machine.Launch, frames.Model, nil, 0.99},
		{machine.Sampling, frames.Model, nil, 0.99},
		{machine.Detokenize, frames.Detokenize, []string{"vllm", "sglang", "tgi", "trtllm", "llmtop"}, 0.99},
		{machine.Send, frames.Send, []string{"llmtop"}, 0.99},
		{machine.Logging, frames.Logging, []string{"vllm", "sglang", "tgi", "trtllm", "llmtop"}, 0.99},
		{machine.GC, frames.GC, []string{"vllm", "sglang", "tgi", "trtllm", "llmtop"}, 0.99},
	}
	for _, engine := range machine.Personalities() {
		c := config()
		c.Personality, c.TP = engine, 1
		for _, p := range purposes {
			if p.of != nil && !slices.Contains(p.of, engine) {
				continue
			}
			w := newWorld(t, c)
			w.asks = machine.Load{Up: true}
			w.asks.CPU[p.part] = 300 * time.Millisecond
			for range 15 {
				w.advance()
			}
			facts := shares(t, w)
			working := 1 - facts.Share[frames.Wait] // SGLang asks for requests without a pause
			if got := facts.Share[p.what] / working; got < p.least {
				t.Errorf("%s: %s is %.2f of the profile of part %d: %v", engine, p.what, got, p.part, facts.Share)
			}
		}
	}
}

func TestProfileHasThePartsInProportion(t *testing.T) {
	c := config()
	c.Personality, c.TP = "llmtop", 1
	w := newWorld(t, c)
	for range 30 {
		w.advance()
	}
	facts := shares(t, w)
	total := 0.0
	for _, d := range w.asks.CPU {
		total += d.Seconds()
	}
	for what, parts := range map[string][]machine.Part{
		frames.Tokenize: {machine.Tokenize, machine.Assemble}, frames.Detokenize: {machine.Detokenize}, frames.Send: {machine.Send},
		frames.Scheduler: {machine.Schedule}, frames.Model: {machine.Launch, machine.Sampling, machine.GrammarMask},
	} {
		want := 0.0
		for _, p := range parts {
			want += w.asks.CPU[p].Seconds() / total
		}
		if got := facts.Share[what]; math.Abs(got-want) > 0.04 {
			t.Errorf("%s: %.3f of the profile, %.3f of the work", what, got, want)
		}
	}
	if want := total * 10 * 100; math.Abs(float64(facts.Samples)-want) > 0.1*want {
		t.Errorf("%d samples, want about %.0f", facts.Samples, want)
	}
}

// Only what was done in the seconds before counts.
func TestProfileIsOfItsSeconds(t *testing.T) {
	w := newWorld(t, config())
	for range 100 {
		w.advance()
	}
	before := shares(t, w).Share[frames.Tokenize]
	w.turn(t, knob.TokenizerThreads, 8)
	w.asks.CPU[machine.Tokenize] = 980 * time.Millisecond
	for range 12 {
		w.advance()
	}
	if after := shares(t, w).Share[frames.Tokenize]; after < 1.9*before {
		t.Errorf("tokenizing took %.3f of the profile and %.3f when it takes four times as long", before, after)
	}
	if _, err := w.Profile(9, began, 10); err == nil {
		t.Error("a replica that is not there has a profile")
	}
}

// Sections and profiles come back from a recording as they went in.
func TestRecordingKeepsSections(t *testing.T) {
	path := t.TempDir() + "/twin.llmrec"
	out, err := record.Create(path, record.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, config())
	w.asks.Slow, w.asks.SendQueue = 2, 1e6
	var want []*probes.Sample
	for i := range 30 {
		w.advance()
		s := w.sample()
		if i == 20 {
			if s.Profile, err = w.Profile(0, s.At, 5); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, s)
		if err := out.Write(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for i, s := range want {
		got, err := in.At(i)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Host, s.Host) || !reflect.DeepEqual(got.Process, s.Process) || !reflect.DeepEqual(got.Neighbours, s.Neighbours) || !reflect.DeepEqual(got.Sockets, s.Sockets) || !reflect.DeepEqual(got.Profile, s.Profile) {
			t.Fatalf("sample %d came back otherwise", i)
		}
	}
}
