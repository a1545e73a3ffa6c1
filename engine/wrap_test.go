package engine

import (
	"context"
	"testing"
)

// passingRunner counts the steps that pass it.
type passingRunner struct {
	Runner
	steps int
}

func (c *passingRunner) Run(batch []Chunk) ([]Result, error) {
	c.steps++
	return c.Runner.Run(batch)
}

func TestWrapRunnerSeesEveryStep(t *testing.T) {
	counting := &passingRunner{}
	e := startFake(t, func(c *Config, f *fakeRunner) {
		c.WrapRunner = func(r Runner) Runner { counting.Runner = r; return counting }
	})
	if w := e.post(context.Background(), "/v1/completions", completion(5, 4, "")); w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	e.stop()
	if counting.steps == 0 || counting.steps != e.runner.steps {
		t.Errorf("%d steps passed the wrapper, %d were computed", counting.steps, e.runner.steps)
	}
}

// What the engine tells of its own runner it still tells when that is wrapped.
func TestWrapRunnerHidesNoBudget(t *testing.T) {
	e, err := New(Config{WrapRunner: func(r Runner) Runner { return &passingRunner{Runner: r} }})
	if err != nil {
		t.Fatal(err)
	}
	if e.Budget().Total == 0 {
		t.Error("no budget is told")
	}
}
