package engine

import (
	"bytes"
	"context"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// goroutineLabels are the stages of the goroutines that have a function of that name in their stack.
func goroutineLabels(t *testing.T, function string) (stages []string) {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		t.Fatal(err)
	}
	stage := regexp.MustCompile(`# labels: \{.*"stage":"([a-z]+)"`)
	for _, g := range strings.Split(b.String(), "\n\n") {
		if !strings.Contains(g, function) {
			continue
		}
		if m := stage.FindStringSubmatch(g); m != nil {
			stages = append(stages, m[1])
		} else {
			stages = append(stages, "")
		}
	}
	slices.Sort(stages)
	return stages
}

// Each goroutine of a request bears its stage, and the loop what its step holds.
func TestStageLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := startFake(t, func(c *Config, f *fakeRunner) { f.before = g.before })
		defer e.stop()
		defer g.release()
		synctest.Wait()
		want := func(function string, stages ...string) {
			t.Helper()
			if got := goroutineLabels(t, function); !slices.Equal(got, stages) {
				t.Errorf("%s: stages %q, want %q", function, got, stages)
			}
		}
		want("engine.(*Engine).Run", "schedule")
		over := make(chan struct{}, 2)
		post := func(n int) {
			e.post(t.Context(), "/v1/completions", completion(n, 5, ""))
			over <- struct{}{}
		}
		go post(20) // two steps of prefill
		<-g.arrived
		synctest.Wait() // the other goroutines have begun
		want("engine.(*fakeRunner).Run", "prefill")
		want("engine.(*call).collect", "send")
		want("engine.(*answer).run", "detokenize")
		g.pass <- struct{}{}
		<-g.arrived
		want("engine.(*fakeRunner).Run", "prefill")
		g.pass <- struct{}{}
		<-g.arrived
		want("engine.(*fakeRunner).Run", "decode")
		go post(3)
		synctest.Wait()
		g.pass <- struct{}{}
		<-g.arrived
		want("engine.(*fakeRunner).Run", "mixed")
		g.release()
		<-over
		<-over
		synctest.Wait()
		want("engine.(*Engine).Run", "schedule")
	})
}

// labelWatch is a tokenizer that sees under which label it works.
type labelWatch struct {
	fakeTokenizer
	t    *testing.T
	seen *[]string
}

func (l labelWatch) Encode(text string, special bool) []int {
	if text == "xxx" { // else the engine is being made
		*l.seen = goroutineLabels(l.t, "engine.labelWatch.Encode")
	}
	return l.fakeTokenizer.Encode(text, special)
}

// Prompts are tokenized under their label, and the connection's goroutine is given
// back without one.
func TestHandlerLabels(t *testing.T) {
	var seen []string
	e := startFake(t, func(c *Config, f *fakeRunner) { c.Tokenizer = labelWatch{fakeTokenizer{stop: -1}, t, &seen} })
	defer e.stop()
	ended := make(chan []string)
	go func() {
		e.post(t.Context(), "/v1/completions", completion(3, 2, ""))
		ended <- goroutineLabels(t, "engine.TestHandlerLabels.func2")
	}()
	if got := <-ended; !slices.Equal(got, []string{""}) {
		t.Errorf("afterwards %q, want no stage", got)
	}
	if !slices.Equal(seen, []string{"tokenize"}) {
		t.Errorf("tokenized as %q", seen)
	}
}

// BenchmarkLabels is what the labels of one step cost, and of one handler.
func BenchmarkLabels(b *testing.B) {
	step := Step{Items: make([]Item, 64)}
	for i := range step.Items {
		step.Items[i] = Item{Seq: &Sequence{Prompt: []int{1}, Output: []int{2}, computed: 1}, Tokens: 1}
	}
	defer pprof.SetGoroutineLabels(context.Background())
	b.Run("step", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			compositionOf(step).label().set()
			labelSchedule.set()
		}
	})
	b.Run("handler", func(b *testing.B) {
		c := &call{}
		b.ReportAllocs()
		for b.Loop() {
			for s := StageReceive; s <= StageQueue; s++ {
				c.enter(s)
			}
		}
	})
}
