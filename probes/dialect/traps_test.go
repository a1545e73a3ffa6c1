package dialect

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Traps of the vocabularies that no fixture holds.
func TestTraps(t *testing.T) {
	expectOnPages(t, []struct{ what, page, reading, want string }{
		{"a percentage is no ratio", "# TYPE sglang:cache_hit_rate gauge\nsglang:cache_hit_rate 45.5\n", "prefix_hit_ratio", "not exposed"},
		{"a full cache may be rounded up", "# TYPE sglang:token_usage gauge\nsglang:token_usage 1.0001\n", "kv_usage_ratio", "1 exact"},
		{"a counter of two ranks without the number of one is no number: it would fall and rise again",
			"# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total{engine=\"0\"} 5\nvllm:generation_tokens_total{engine=\"1\"} NaN\n", "generation_tokens_total", "not exposed"},
		{"the rank that tells it does", "# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total{engine=\"0\"} 5\nvllm:generation_tokens_total{engine=\"1\"} NaN\n", "0|generation_tokens_total", "5 exact"},
		{"a counter under a family _created, typed gauge", "# TYPE vllm:generation_tokens_created gauge\nvllm:generation_tokens_created 1.7e9\n", "generation_tokens_total", "not exposed"},
		{"_created without TYPE lines", "vllm:prompt_tokens_created 1.7e9\nvllm:num_requests_running 1\n", "prompt_tokens_total", "not exposed"},
		{"both spellings of a counter", "vllm:generation_tokens_total 7\n# TYPE vllm:generation_tokens counter\nvllm:generation_tokens 7\n", "generation_tokens_total", "7 exact"},
		{"a LoRA time is no count", "# TYPE vllm:lora_requests_info gauge\nvllm:lora_requests_info{running_lora_adapters=\"a\"} 1.79e9\n", "running", "not exposed"},
		{"buckets out of order and twice", "# TYPE vllm:time_to_first_token_seconds histogram\nvllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} 4\nvllm:time_to_first_token_seconds_bucket{le=\"1\"} 3\nvllm:time_to_first_token_seconds_bucket{le=\"0.5\"} 1\nvllm:time_to_first_token_seconds_sum 3\nvllm:time_to_first_token_seconds_count 4\n", "ttft_seconds", "count 4 sum 3 exact"},
	})
}

// The name of the only engine behind a page is told, so that it goes on when others join.
func TestOnlyEngine(t *testing.T) {
	one := Decode(parse("vllm:num_requests_running{engine=\"0\"} 1\n"))
	if one.Only != "0" || one.Parts != nil || one.Instance != "" {
		t.Errorf("one: %s", asJSON(t, one))
	}
	two := Decode(parse("vllm:num_requests_running{engine=\"0\"} 1\nvllm:num_requests_running{engine=\"1\"} 1\n"))
	if two.Only != "" || len(two.Parts) != 2 || two.Parts[0].Only != "" {
		t.Errorf("two: %s", asJSON(t, two))
	}
}

// More shapes than a window of some dozen endpoints has are known all the same.
func TestManyEndpointsAreKnown(t *testing.T) {
	d := NewDecoder()
	for round := range 2 {
		for i := range 64 {
			d.Decode(parse(fmt.Sprintf("vllm:num_requests_running{x=\"%d-%d\"} 1\n", round, i)))
		}
	}
	if len(d.plans) != 128 {
		t.Errorf("%d of 128 shapes are known", len(d.plans))
	}
}

// A page of very many engines, labels and series is read in a bounded time and into a
// bounded number of parts.
func TestHugePage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# TYPE vllm:num_requests_running gauge\n")
	for i := range 9000 {
		fmt.Fprintf(&b, "vllm:num_requests_running{engine=\"%d\",model_name=\"m%d\"} 1\n", i, i)
	}
	for i := range 9000 {
		fmt.Fprintf(&b, "vllm:num_requests_waiting_by_reason{engine=\"%d\",reason=\"r%d\"} 1\n", i, i)
	}
	began := time.Now()
	e := Decode(parse(b.String()))
	t.Logf("read in %v", time.Since(began))
	if e.Running.Or(0) != 9000 || len(e.Parts) != MaxInstances || len(e.Waits) != maxWaits || e.Model != "m0 +99" {
		t.Errorf("running %v, %d parts, %d waits, model %q", e.Running, len(e.Parts), len(e.Waits), e.Model)
	}
}
