package engine

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// The stages of an answered request are observed when its last byte is written, as
// its record has them.
func TestStageMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newClock()
		clock.tick = time.Millisecond
		e := startFake(t, func(c *Config, f *fakeRunner) { c.Now = clock.now })
		defer e.stop()
		for s, r := range readings(scrape(t, e), "llmtop:request_stage_seconds") {
			if r.count != 0 {
				t.Errorf("%s is observed %d times before any request", s, r.count)
			}
		}
		e.post(t.Context(), "/v1/completions", completion(5, 3, `,"stream":true`))
		stages := readings(scrape(t, e), "llmtop:request_stage_seconds")
		finished := e.requests(t, "").Finished[0]
		if len(stages) != int(NumStages) || len(finished.Stages) != int(NumStages) {
			t.Fatalf("%d series, %d stages in the record, want %d", len(stages), len(finished.Stages), NumStages)
		}
		for name, want := range finished.Stages {
			if got := stages[name]; got.count != 1 || math.Abs(got.value-want) > 1e-9 {
				t.Errorf("%s: %d observations of %g s, want one of %g", name, got.count, got.value, want)
			}
		}
	})
}

// A request that was not answered has no stage times.
func TestStagesOfTheUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, func(c *Config, f *fakeRunner) { f.before = func(int) error { return errBroken } })
		defer e.stop()
		if w := e.post(t.Context(), "/v1/completions", completion(5, 3, "")); w.Code != 500 {
			t.Fatal(w.Code)
		}
		for s, r := range readings(scrape(t, e), "llmtop:request_stage_seconds") {
			if r.count != 0 {
				t.Errorf("%s is observed", s)
			}
		}
	})
}

// Prompt tokens are told by where they came from; the parts add up.
func TestCachedPromptTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		e.metrics.prefilled(100, 64)
		e.metrics.prefilled(10, 0)
		for series, want := range map[string]float64{
			"vllm:prompt_tokens_total": 110, "vllm:prompt_tokens_cached_total": 64,
			`vllm:prompt_tokens_by_source_total{source="local_compute"}`:        46,
			`vllm:prompt_tokens_by_source_total{source="local_cache_hit"}`:      64,
			`vllm:prompt_tokens_by_source_total{source="external_kv_transfer"}`: 0,
			`vllm:prompt_tokens_cached_by_source_total{source="device"}`:        64,
		} {
			if got := counterValue(t, e, series); got != want {
				t.Errorf("%s is %g, want %g", series, got, want)
			}
		}
	})
}

// What a request asked for is observed when it has been answered.
func TestParameterMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		e.post(t.Context(), "/v1/completions", completion(20, 7, ""))
		page := scrape(t, e)
		for family, want := range map[string]float64{
			"vllm:request_params_n": 1, "vllm:request_params_max_tokens": 7, "vllm:request_max_num_generation_tokens": 7,
			"vllm:request_prefill_kv_computed_tokens": 21,
		} {
			if got := readings(page, family)[""]; got != (reading{1, want}) {
				t.Errorf("%s: %+v, want one of %g", family, got, want)
			}
		}
	})
}

// The text of refused prompts is counted in bytes: it is never tokenized.
func TestRejectedBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := startFake(t, func(c *Config, f *fakeRunner) { c.MaxNumSeqs, c.MaxQueue, f.before = 1, 1, g.before })
		defer e.stop()
		over := make(chan struct{})
		send := func() {
			e.post(t.Context(), "/v1/completions", completion(3, 2, ""))
			over <- struct{}{}
		}
		go send()
		<-g.arrived
		go send()
		synctest.Wait()
		if w := e.post(t.Context(), "/v1/completions", completion(1234, 2, "")); w.Code != 429 {
			t.Fatal(w.Code)
		}
		if got := counterValue(t, e, "llmtop:rejected_prompt_bytes_total"); got != 1234 {
			t.Errorf("%g bytes", got)
		}
		g.release()
		<-over
		<-over
	})
}
