package dialect

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/probes/scrape"
)

var update = flag.Bool("update", false, "rewrite the goldens")

const expositions = "../../testdata/expositions"

func load(t testing.TB, path string) *probes.Scrape {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := scrape.Parse(page)
	s.At, s.Endpoint = time.Unix(1796000000, 0).UTC(), "http://gpu-7:8000"
	return s
}

func parse(page string) *probes.Scrape { return scrape.Parse([]byte(page)) }

func TestGoldens(t *testing.T) {
	pages, _ := filepath.Glob(filepath.Join(expositions, "*.prom"))
	if len(pages) < 6 {
		t.Fatalf("%d fixtures in %s", len(pages), expositions)
	}
	for _, path := range pages {
		checkGolden(t, strings.TrimSuffix(filepath.Base(path), ".prom"), Decode(load(t, path)))
	}
}

// What the fixtures were made to show, beside the goldens: these numbers are
// written from the pages by hand.
func TestFixtures(t *testing.T) {
	some := probes.Some[float64]
	none := probes.None[float64](probes.NotExposed)
	cases := []struct {
		page string
		what string
		got  func(*probes.Engine) probes.Opt[float64]
		want probes.Opt[float64]
	}{
		{"vllm-v1", "waiting, not doubled by its reasons", func(e *probes.Engine) probes.Opt[float64] { return e.Waiting }, some(3)},
		{"vllm-v1", "stop, length and repetition ended well", func(e *probes.Engine) probes.Opt[float64] { return e.Finished }, some(96)},
		{"vllm-v1", "abort and error did not", func(e *probes.Engine) probes.Opt[float64] { return e.Failed }, some(4)},
		{"vllm-v1", "what is not exposed is not 0", func(e *probes.Engine) probes.Opt[float64] { return e.Rejected }, none},
		{"vllm-v1", "external cache apart", func(e *probes.Engine) probes.Opt[float64] { return e.PrefixQueries }, some(41000)},
		{"vllm-v1", "tokens, not blocks", func(e *probes.Engine) probes.Opt[float64] { return e.KVTokens }, some(262144)},
		{"vllm-v1-dp2", "running over engines", func(e *probes.Engine) probes.Opt[float64] { return e.Running }, some(18)},
		{"vllm-v1-dp2", "the fuller cache", func(e *probes.Engine) probes.Opt[float64] { return e.KVUsage }, some(0.5)},
		{"vllm-v1-dp2", "capacity over engines", func(e *probes.Engine) probes.Opt[float64] { return e.KVTokens }, some(524288)},
		{"vllm-v1-dp2", "observations over engines", func(e *probes.Engine) probes.Opt[float64] { return some(e.TTFT.Count) }, some(300)},
		{"vllm-v1-dp2", "seconds over engines", func(e *probes.Engine) probes.Opt[float64] { return some(e.TTFT.Sum) }, some(94.5)},
		{"vllm-v0", "old name of KV usage", func(e *probes.Engine) probes.Opt[float64] { return e.KVUsage }, some(0.75)},
		{"vllm-v0", "old name of the step time", func(e *probes.Engine) probes.Opt[float64] { return some(e.StepTime.Sum) }, some(89.4)},
		{"vllm-v0", "old name of the queue time", func(e *probes.Engine) probes.Opt[float64] { return some(e.Queue.Count) }, some(20)},
		{"vllm-ray", "renamed by Ray", func(e *probes.Engine) probes.Opt[float64] { return e.Running }, some(4)},
		{"vllm-ray", "a counter under two names", func(e *probes.Engine) probes.Opt[float64] { return e.GenerationTokens }, some(1000)},
		{"vllm-pids", "the highest copy", func(e *probes.Engine) probes.Opt[float64] { return e.KVUsage }, some(0.875)},
		{"vllm-pids", "the highest copy of each engine", func(e *probes.Engine) probes.Opt[float64] { return e.Running }, some(16)},
		{"llmtop-engine", "blocks times their size", func(e *probes.Engine) probes.Opt[float64] { return e.KVTokens }, some(4096)},
		{"llmtop-engine", "limit of the batch", func(e *probes.Engine) probes.Opt[float64] { return e.MaxRunning }, some(8)},
		{"llmtop-engine", "limit of a step", func(e *probes.Engine) probes.Opt[float64] { return e.TokenBudget }, some(256)},
		{"llmtop-engine", "rejected", func(e *probes.Engine) probes.Opt[float64] { return e.Rejected }, some(9)},
		{"hostile", "one of two engines tells no number", func(e *probes.Engine) probes.Opt[float64] { return e.Waiting }, some(2)},
	}
	for _, c := range cases {
		if got := c.got(Decode(load(t, filepath.Join(expositions, c.page+".prom")))); got != c.want {
			t.Errorf("%s: %s: got %+v, want %+v", c.page, c.what, got, c.want)
		}
	}
}

func TestDecodeSmallPages(t *testing.T) {
	cases := []struct{ name, page, want string }{
		{"another engine", "# TYPE acme:num_running_reqs gauge\nacme:num_running_reqs 3\n", "no dialect"},
		{"no engine", "# TYPE go_goroutines gauge\ngo_goroutines 3\nhttp_requests_total 4\n", "no dialect"},
		{"empty", "", "no dialect"},
		{"TYPE decides: a gauge is no counter", "# TYPE vllm:prompt_tokens_total gauge\nvllm:prompt_tokens_total 3\n", "prompt_tokens_total: not exposed"},
		{"TYPE decides: a counter is no gauge", "# TYPE vllm:num_requests_running counter\nvllm:num_requests_running 3\n", "running: not exposed"},
		{"without TYPE lines", "vllm:prompt_tokens_total 3\nvllm:num_requests_running 2\n", "running: 2\n"},
		{"histogram without TYPE lines", "vllm:e2e_request_latency_seconds_bucket{le=\"1\"} 2\nvllm:e2e_request_latency_seconds_bucket{le=\"+Inf\"} 3\nvllm:e2e_request_latency_seconds_sum 4\n",
			"e2e_seconds: count 3 sum 4\n  bounds [1]\n  cumulative [2]\n"},
		{"no number", "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running NaN\n", "running: not exposed"},
		{"no sum", "# TYPE vllm:e2e_request_latency_seconds histogram\nvllm:e2e_request_latency_seconds_bucket{le=\"+Inf\"} 3\n", "e2e_seconds: none"},
		{"a histogram's bucket is no number", "# TYPE vllm:e2e_request_latency_seconds histogram\nvllm:e2e_request_latency_seconds_bucket{le=\"1\"} NaN\nvllm:e2e_request_latency_seconds_sum 1\nvllm:e2e_request_latency_seconds_count 1\n", "e2e_seconds: none"},
		{"engines with other buckets", `# TYPE vllm:e2e_request_latency_seconds histogram
vllm:e2e_request_latency_seconds_bucket{engine="0",le="1"} 2
vllm:e2e_request_latency_seconds_bucket{engine="0",le="2"} 3
vllm:e2e_request_latency_seconds_sum{engine="0"} 4
vllm:e2e_request_latency_seconds_count{engine="0"} 3
vllm:e2e_request_latency_seconds_bucket{engine="1",le="1"} 5
vllm:e2e_request_latency_seconds_bucket{engine="1",le="4"} 6
vllm:e2e_request_latency_seconds_sum{engine="1"} 7
vllm:e2e_request_latency_seconds_count{engine="1"} 6
`, "e2e_seconds: count 9 sum 11\n  bounds [1]\n  cumulative [7]\n"},
		{"the simulator's label", "# TYPE vllm:request_success_total counter\nvllm:request_success_total{finish_reason=\"length\"} 5\n", "finished_total: 5\n"},
		{"no failure seen is not 0 failures", "# TYPE vllm:request_success_total counter\nvllm:request_success_total{finish_reason=\"length\"} 5\n", "failed_total: not exposed\n"},
		{"waiting by reason alone", "# TYPE vllm:num_requests_waiting_by_reason gauge\nvllm:num_requests_waiting_by_reason{reason=\"capacity\"} 5\nvllm:num_requests_waiting_by_reason{reason=\"deferred\"} 1\n", "waiting: 6\n"},
		{"two models", "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{model_name=\"a\"} 1\nvllm:num_requests_running{model_name=\"b\"} 2\n", "vllm \"a +1\""},
		{"capacity that is no number", "# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size=\"None\",num_gpu_blocks=\"5\"} 1\n", "kv_cache_tokens: not exposed"},
	}
	for _, c := range cases {
		if got := say(Decode(parse(c.page))); !strings.Contains(got, c.want) {
			t.Errorf("%s: want %q in\n%s", c.name, c.want, got)
		}
	}
	for _, s := range []*probes.Scrape{nil, {}, {Schema: parse("vllm:a 1\n").Schema}} {
		if e := Decode(s); e != nil {
			t.Errorf("%+v is an engine: %+v", s, e)
		}
	}
}

// A Decoder that has met many shapes says the same as one that has met none.
func TestDecoderIsPure(t *testing.T) {
	d := NewDecoder()
	s := load(t, filepath.Join(expositions, "vllm-v1.prom"))
	want := say(Decode(s))
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range maxPlans + 4 {
				page := fmt.Sprintf("# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{x=\"%d\"} %d\n", g*1000+i, i)
				if got := d.Decode(parse(page)).Running.Or(-1); got != float64(i) {
					t.Errorf("got %v, want %d", got, i)
				}
				if got := say(d.Decode(s)); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			}
		})
	}
	all.Wait()
	if len(d.plans) > maxPlans {
		t.Errorf("%d plans kept", len(d.plans))
	}
}

// TestSamples decodes pages of real engines that may lie beside the project.
func TestSamples(t *testing.T) {
	dir := os.Getenv("LLMTOP_SAMPLES")
	if dir == "" {
		dir = "../../../shared/data/metrics"
	}
	pages, _ := filepath.Glob(filepath.Join(dir, "vllm-*.prom"))
	pages = append(pages, filepath.Join(dir, "llmd-sim-loaded.prom"))
	if len(pages) < 2 {
		t.Skip("no sample pages beside the project (LLMTOP_SAMPLES)")
	}
	for _, path := range pages {
		e := Decode(load(t, path))
		if e == nil || e.Model == "" || !e.Running.Seen() || !e.KVUsage.Seen() || !e.KVTokens.Seen() || !e.Finished.Seen() {
			t.Errorf("%s: %s", path, say(e))
			continue
		}
		for _, r := range probes.EngineReadings {
			switch r.Name { // the simulator tells of a queue once somebody waited
			case "step_tokens", "queue_seconds", "frontend_seconds", "transfer_seconds":
				continue
			}
			if r.Histogram != nil && *r.Histogram(e) == nil {
				t.Errorf("%s: no %s", path, r.Name)
			}
		}
	}
	e := Decode(load(t, filepath.Join(dir, "vllm-2026-09-lmswitch-specdecode.prom")))
	if e.GenerationTokens.Or(0) != 44995 || e.Finished.Or(0) != 26 || e.TTFT.Count != 26 || e.StepTokens == nil {
		t.Errorf("got %s", say(e))
	}
}

func BenchmarkDecode(b *testing.B) {
	s := load(b, filepath.Join(expositions, "vllm-v1-dp2.prom"))
	b.Run("known shape", func(b *testing.B) {
		d := NewDecoder()
		b.ReportAllocs()
		for b.Loop() {
			d.Decode(s)
		}
	})
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Decode(s)
		}
	})
}
