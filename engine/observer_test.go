package engine

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// witness is an observer that keeps what it is told.
type witness struct {
	mu                                        sync.Mutex
	arrived, queued, admitted, first, stages  int
	finished                                  []Observed
	steps, tokens, firsts, prompt, gaps, rest int
	scheduler                                 *Scheduler
}

func (w *witness) note(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func (w *witness) Arrived(time.Time, int64) { w.note(func() { w.arrived++ }) }
func (w *witness) Stage(Stage, int)         { w.note(func() { w.stages++ }) }
func (w *witness) Queued(r *Observed)       { w.note(func() { w.queued++ }) }
func (w *witness) Admitted(r *Observed)     { w.note(func() { w.admitted++ }) }
func (w *witness) First(r *Observed)        { w.note(func() { w.first++ }) }
func (w *witness) Finished(r *Observed)     { w.note(func() { w.finished = append(w.finished, *r) }) }
func (w *witness) Begins(s *Scheduler)      { w.scheduler = s }
func (w *witness) Rests()                   { w.note(func() { w.rest++ }) }
func (w *witness) Stepped(s *ObservedStep) {
	w.note(func() {
		w.steps++
		w.tokens, w.firsts, w.prompt, w.gaps = w.tokens+s.Generated, w.firsts+s.First, w.prompt+s.Prompt, w.gaps+len(s.Gaps)
	})
}

// Of every request it is told once that it arrived and once that it ended, and the tokens of
// the steps are those of the answers.
func TestObserver(t *testing.T) {
	w := &witness{}
	e := startFake(t, func(c *Config, _ *fakeRunner) { c.Observer = w })
	for range 3 {
		if r := e.post(t.Context(), "/v1/completions", completion(10, 6, "")); r.Code != 200 {
			t.Fatal(r.Body)
		}
	}
	e.post(t.Context(), "/v1/completions", `{"prompt":"x","max_tokens":-1}`)
	e.post(t.Context(), "/v1/completions", strings.Repeat("x", 3))
	e.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.arrived != 5 || w.queued != 3 || w.admitted != 3 || w.first != 3 || len(w.finished) != 5 || w.rest == 0 {
		t.Errorf("%d arrived, %d queued, %d admitted, %d had a first token, %d finished", w.arrived, w.queued, w.admitted, w.first, len(w.finished))
	}
	if w.steps != e.runner.steps || w.firsts != 3 || w.tokens != 15 || w.gaps != 15 {
		t.Errorf("%d steps of %d, %d first and %d other tokens, %d gaps", w.steps, e.runner.steps, w.firsts, w.tokens, w.gaps)
	}
	// Each of the first three passed receive to assemble; the others failed while they were parsed.
	if want := 3*5 + 2; w.stages != want {
		t.Errorf("%d stages, want %d", w.stages, want)
	}
	for i, r := range w.finished {
		answered := i < 3
		if (r.Finish == FinishLength) != answered || answered && (r.Output != 6 || r.Prompt != 11 || r.Asked != 6 || r.TTFT <= 0) || !answered && r.Asked != 0 {
			t.Errorf("request %d: %+v", i, r)
		}
	}
	if w.scheduler != e.scheduler {
		t.Error("the scheduler was not shown")
	}
}
