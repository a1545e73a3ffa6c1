package engine

import (
	"flag"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

var update = flag.Bool("update", false, "rewrite golden files")

// scrape reads /metrics as a monitoring system would.
func scrape(t *testing.T, e *testEngine) map[string]*dto.MetricFamily {
	t.Helper()
	w := e.get("/metrics")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("%d: %v", w.Code, err)
	}
	return families
}

// counterValue is the value of the one series of a counter, named as name or name{label="value"}.
func counterValue(t *testing.T, e *testEngine, series string) float64 {
	t.Helper()
	name, want, _ := strings.Cut(series, "{")
	for _, m := range scrape(t, e)[name].GetMetric() {
		if want == "" || slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool {
			return l.GetName()+"="+strconv.Quote(l.GetValue())+"}" == want
		}) {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no series %s", series)
	return 0
}

// The families, their types and labels are a format; all exist before the first
// request, but for HTTP counters.
func TestMetricFamilies(t *testing.T) {
	e := startFake(t, nil)
	defer e.stop()
	var lines []string
	for name, f := range scrape(t, e) {
		if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") || strings.HasPrefix(name, "http_") {
			continue
		}
		labels := []string{}
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		lines = append(lines, name+" "+strings.ToLower(f.GetType().String())+" "+strings.Join(labels, ",")+"\n")
	}
	slices.Sort(lines)
	got := strings.Join(lines, "")
	const golden = "testdata/metrics.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	for _, name := range []string{"process_start_time_seconds", "process_cpu_seconds_total", "go_goroutines"} {
		if scrape(t, e)[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
}

// Each metric moves when vLLM's does.
func TestMetricMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := startFake(t, func(c *Config, f *fakeRunner) { f.before = g.before })
		defer e.stop()
		defer g.release()
		over := make(chan struct{})
		go func() {
			defer close(over)
			e.post(t.Context(), "/v1/completions", completion(29, 4, `,"stream":true`))
		}()
		// 30 tokens at 16 a step: two steps of prefill, three more of decode.
		want := func(step int, running, prompt, generated, ttft, itl, ended float64) {
			t.Helper()
			synctest.Wait()
			f := scrape(t, e)
			for name, v := range map[string]float64{
				"vllm:num_requests_running": running, "vllm:prompt_tokens_total": prompt, "vllm:generation_tokens_total": generated,
				"vllm:time_to_first_token_seconds": ttft, "vllm:inter_token_latency_seconds": itl,
				"vllm:e2e_request_latency_seconds": ended, "vllm:request_queue_time_seconds": ended, "vllm:request_prefill_time_seconds": ended,
				"vllm:request_decode_time_seconds": ended, "vllm:request_inference_time_seconds": ended,
				"vllm:request_time_per_output_token_seconds": ended, "vllm:request_prompt_tokens": ended, "vllm:request_generation_tokens": ended,
			} {
				m := f[name].GetMetric()[0]
				if got := m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount()); got != v {
					t.Errorf("before step %d: %s is %g, want %g", step, name, got, v)
				}
			}
		}
		step := func(n int) {
			if n > 1 {
				g.pass <- struct{}{}
			}
			<-g.arrived
		}
		step(1)
		want(1, 1, 0, 0, 0, 0, 0)
		step(2)
		want(2, 1, 0, 0, 0, 0, 0)
		if got := counterValue(t, e, "vllm:kv_cache_usage_perc"); got != 8.0/64 { // 30 tokens in blocks of 4
			t.Errorf("KV usage %g", got)
		}
		step(3)
		want(3, 1, 30, 1, 1, 0, 0)
		step(4)
		want(4, 1, 30, 2, 1, 1, 0)
		step(5)
		g.pass <- struct{}{}
		<-over
		want(6, 0, 30, 4, 1, 3, 1)
		h := scrape(t, e)["vllm:iteration_tokens_total"].GetMetric()[0].GetHistogram()
		if h.GetSampleCount() != 5 || h.GetSampleSum() != 33 {
			t.Errorf("%d steps of %g tokens, want 5 of 33", h.GetSampleCount(), h.GetSampleSum())
		}
	})
}

// The state can be read while a step takes long, and says so after a while.
func TestAnswersDuringLongStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		clock := newClock()
		e := startFake(t, func(c *Config, f *fakeRunner) { c.Now, f.before = clock.now, g.before })
		defer e.stop()
		over := make(chan struct{})
		go func() {
			defer close(over)
			e.post(t.Context(), "/v1/completions", completion(29, 4, ""))
		}()
		<-g.arrived
		for _, path := range []string{"/health", "/metrics", "/v1/models", "/debug/requests"} {
			if w := e.get(path); w.Code != 200 {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
		clock.advance(stallAfter + 1)
		if w := e.get("/health"); w.Code != 503 || !strings.Contains(w.Body.String(), "busy with one step for 30s") {
			t.Errorf("after %s in one step: %d %s", stallAfter, w.Code, w.Body)
		}
		g.release()
		<-over
		synctest.Wait()
		if w := e.get("/health"); w.Code != 200 {
			t.Errorf("afterwards: %d", w.Code)
		}
	})
}
