package engine

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// Two steps of prefill, three of decode: what is in them, and where their time goes.
func TestStepMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newClock()
		clock.tick = time.Millisecond
		e := startFake(t, func(c *Config, f *fakeRunner) { c.Now = clock.now })
		defer e.stop()
		e.post(t.Context(), "/v1/completions", completion(29, 4, "")) // 30 tokens at 16 a step
		synctest.Wait()
		page := scrape(t, e)
		for _, c := range []struct {
			family, series string
			want           reading
		}{
			{"llmtop:step_sequences", "prefill", reading{5, 2}},
			{"llmtop:step_sequences", "decode", reading{5, 3}},
			{"llmtop:step_tokens", "prefill", reading{5, 30}},
			{"llmtop:step_tokens", "decode", reading{5, 3}},
			{"vllm:iteration_tokens_total", "", reading{5, 33}},
		} {
			if got := readings(page, c.family)[c.series]; got != c.want {
				t.Errorf("%s %s: %+v, want %+v", c.family, c.series, got, c.want)
			}
		}
		var whole, parts float64
		kinds := readings(page, "llmtop:step_duration_seconds")
		for kind, want := range map[string]uint64{"prefill": 2, "decode": 3, "mixed": 0} {
			if got := kinds[kind].count; got != want {
				t.Errorf("%d steps of kind %s, want %d", got, kind, want)
			}
			whole += kinds[kind].value
		}
		for part, r := range readings(page, "llmtop:step_part_seconds") {
			if r.count != 5 || r.value <= 0 {
				t.Errorf("%s: %+v, want 5 and some time: every reading of the clock moves it", part, r)
			}
			parts += r.value
		}
		if math.Abs(whole-parts) > 1e-9 {
			t.Errorf("the parts take %g s, the steps %g", parts, whole)
		}
	})
}

func TestMixedStep(t *testing.T) {
	decode := &Sequence{Prompt: []int{1, 2}, Output: []int{3}, computed: 2}
	again := &Sequence{Prompt: []int{1, 2}, Output: []int{3}} // preempted: all of it is computed anew
	c := compositionOf(Step{Items: []Item{{Seq: decode, Tokens: 1}, {Seq: again, Tokens: 3}}})
	want := composition{sequences: [numWork]int{1, 1}, tokens: [numWork]int{3, 1}}
	if c != want || c.kind() != "mixed" {
		t.Errorf("%+v of kind %s", c, c.kind())
	}
}
