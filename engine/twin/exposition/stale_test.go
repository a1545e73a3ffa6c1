package exposition

import (
	"math"
	"testing"
	"time"

	"llmtop/engine"
	"llmtop/probes"
	"llmtop/probes/dialect"
)

// told is what a page tells of a reading; NaN when it does not.
func told(p Page, at time.Time, s *State, reading string) float64 {
	schema, values := p.Scrape(at, s)
	e := dialect.Decode(&probes.Scrape{At: at, Schema: schema, Values: values})
	r, _ := probes.LookupEngineReading(reading)
	if e == nil {
		return math.NaN()
	}
	return r.Number(e).Or(math.NaN())
}

// Gauges stand still between the moments at which an engine writes them: five requests
// run and none wait after a step, then 7 run and 9 wait and there is no step.
func TestGaugesStandStill(t *testing.T) {
	after, later := State{Running: 5}, State{Running: 7, Waiting: 9}
	for _, c := range []struct {
		personality              string
		step                     Step
		running, waiting, queued float64 // once all is different, and once another request is queued
	}{
		{"llmtop", Step{Decodes: 5}, 7, 9, 9},
		{"llamacpp", Step{Decodes: 5}, 7, 9, 9},
		{"vllm", Step{Decodes: 5}, 5, 0, 0},
		{"trtllm", Step{Decodes: 5}, 5, 0, 0},
		{"tgi", Step{Decodes: 5}, 5, 0, 1},
		{"sglang", Step{Prefills: 1, Prefill: 10, Decodes: 4}, 5, 0, 0},
	} {
		p, err := New(c.personality, sampleInfo())
		if err != nil {
			t.Fatal(err)
		}
		at := midnight.Add(time.Minute)
		c.step.At, c.step.Seconds, c.step.Now = at, .02, &after
		p.Step(&c.step)
		at = at.Add(3 * time.Second)
		if got := told(p, at, &later, "running"); got != c.running {
			t.Errorf("%s: %v run, want %v", c.personality, got, c.running)
		}
		if got := told(p, at, &later, "waiting"); got != c.waiting && !(c.personality == "tgi" && math.IsNaN(got)) {
			t.Errorf("%s: %v wait, want %v", c.personality, got, c.waiting)
		}
		p.Queued(&Request{At: at, Prompt: 10})
		if got := told(p, at, &later, "waiting"); got != c.queued {
			t.Errorf("%s: %v wait once another is queued, want %v", c.personality, got, c.queued)
		}
	}
}

// SGLang writes its gauges every 40 decode steps, and when it is idle every 30 s; its speed
// is that of the interval, and stays when nothing runs.
func TestSGLangTellsByIntervals(t *testing.T) {
	p, err := New("sglang", sampleInfo())
	if err != nil {
		t.Fatal(err)
	}
	at := midnight
	for i := 1; i <= 100; i++ {
		at = at.Add(50 * time.Millisecond)
		p.Step(&Step{At: at, Seconds: .05, Decodes: 4, Decode: 4, Now: &State{Running: i}})
		want := float64(i / 40 * 40)
		if want == 0 {
			want = math.NaN()
		}
		if got := told(p, at, &State{Running: i}, "running"); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("after %d steps %v run, want %v", i, got, want)
		}
	}
	if got := told(p, at, &State{}, "tokens_per_second"); got != 80 {
		t.Errorf("%v tokens a second, want 4 each 50 ms", got)
	}
	if got := told(p, at, &State{}, "generation_tokens_total"); got != 320 {
		t.Errorf("%v tokens are told, want those of the two intervals, 320 of 400", got)
	}
	published := midnight.Add(80 * 50 * time.Millisecond)
	if got := told(p, published.Add(29*time.Second), &State{}, "running"); got != 80 {
		t.Errorf("%v run before the idle scheduler has told, want the 80 of the last interval", got)
	}
	if got := told(p, published.Add(31*time.Second), &State{}, "running"); got != 0 {
		t.Errorf("%v run when it has, want 0", got)
	}
}

// Without the state at a step's end gauges are written with what the next scrape knows.
func TestGaugesAreWrittenWithTheNextScrape(t *testing.T) {
	p, err := New("vllm", sampleInfo())
	if err != nil {
		t.Fatal(err)
	}
	at := midnight.Add(time.Second)
	p.Step(&Step{At: at, Decodes: 3})
	for _, s := range []State{{Running: 3}, {Running: 8}} {
		if got := told(p, at, &s, "running"); got != 3 {
			t.Errorf("%v run, want the 3 of the first scrape after the step", got)
		}
	}
}

// llama.cpp's speeds are those since anybody asked last.
func TestLlamaSpeedIsSinceTheLastScrape(t *testing.T) {
	p, err := New("llamacpp", sampleInfo())
	if err != nil {
		t.Fatal(err)
	}
	line := engine.NewTimeline(midnight)
	for s := engine.StageReceive; s <= engine.StagePrefill; s++ {
		line.Finish(s, midnight.Add(time.Duration(s+1)*100*time.Millisecond))
	}
	p.First(&Request{At: midnight.Add(time.Second), Line: &line, Prompt: 100})
	for _, want := range []float64{500, 0} { // 100 tokens in batch and prefill, 200 ms
		schema, values := p.Scrape(midnight, nil)
		for i, s := range schema.Series {
			if s.Name == "llamacpp:prompt_tokens_seconds" && values[i] != want {
				t.Errorf("%v tokens a second, want %v", values[i], want)
			}
		}
	}
}

// A cache that becomes smaller while the engine runs is fuller; what the page says of the settings
// is what the process began with.
func TestResizedGoesOn(t *testing.T) {
	for _, name := range Names() {
		l := newLife(3, sampleInfo())
		p, err := New(name, l.info)
		if err != nil {
			t.Fatal(err)
		}
		l.pages = []Page{p}
		for range 60 {
			l.step()
		}
		r := newReader(p)
		settle := func() { // after as many steps of decode SGLang writes what has come together
			for range 40 {
				p.Step(&Step{At: l.now, Now: &l.state, Decodes: 1})
			}
		}
		settle()
		before := r.read(t, l.now, &l.state)
		schema, _ := p.Scrape(l.now, &l.state)
		p.Resized(l.info.Blocks / 4)
		settle()
		after := r.read(t, l.now, &l.state)
		if f, a := before.GenerationTokens.Or(-1), after.GenerationTokens.Or(-2); f != a {
			t.Errorf("%s: %v tokens became %v", name, f, a)
		}
		if f, a := before.KVTokens, after.KVTokens; f != a {
			t.Errorf("%s: a cache of %v tokens is said to have %v", name, f, a)
		}
		if again, _ := p.Scrape(l.now, &l.state); again != schema {
			t.Errorf("%s: the page has another shape", name)
		}
		if was, known := before.KVUsage.Get(); known {
			if is := after.KVUsage.Or(-1); math.Abs(is-min(1, 4*was)) > 0.01 {
				t.Errorf("%s: it was %v full, and a quarter of it is %v full", name, was, is)
			}
		}
	}
}
