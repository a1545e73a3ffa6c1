package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/probes/scrape"
)

// BenchmarkDiagnoseInstances is one tick over many data-parallel engines: 16 endpoints
// of 8 ranks, each with vLLM's 12 histograms, by their pages alone.
//
//	go test -run xxx -bench DiagnoseInstances ./rules
func BenchmarkDiagnoseInstances(b *testing.B) {
	for _, size := range []struct{ endpoints, ranks int }{{1, 8}, {16, 8}, {64, 1}} {
		b.Run(fmt.Sprintf("%dx%d", size.endpoints, size.ranks), func(b *testing.B) {
			base := make([]*probes.Scrape, size.endpoints)
			for i := range base {
				base[i] = scrape.Parse([]byte(ranksPage(size.ranks)))
				base[i].Endpoint = fmt.Sprintf("http://10.0.0.%d:8000", i)
			}
			d, n := diagnoser(b), 0
			next := func() *probes.Sample {
				n++
				at := time.Unix(1796000000+int64(n), 0).UTC()
				s := &probes.Sample{Seq: uint64(n), At: at, Mono: time.Duration(n) * time.Second, Interval: time.Second}
				for _, old := range base {
					page := &probes.Scrape{At: at, Endpoint: old.Endpoint, Schema: old.Schema, Values: make([]float64, len(old.Values))}
					for i, v := range old.Values {
						page.Values[i] = v * float64(n)
					}
					s.Scrapes = append(s.Scrapes, page)
				}
				return s
			}
			for range 60 {
				d.Observe(next())
			}
			measure(b, d, next)
		})
	}
}

// ranksPage is a page of several engines; multiplied, it is the page of a later second.
func ranksPage(ranks int) string {
	var b strings.Builder
	for _, name := range []string{"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"} {
		fmt.Fprintf(&b, "# TYPE vllm:%s gauge\n", name)
		for r := range ranks {
			fmt.Fprintf(&b, "vllm:%s{engine=\"%d\",model_name=\"m\"} 0.001\n", name, r)
		}
	}
	for _, name := range []string{"prompt_tokens_total", "generation_tokens_total", "num_preemptions_total", "prefix_cache_queries_total", "prefix_cache_hits_total"} {
		fmt.Fprintf(&b, "# TYPE vllm:%s counter\n", name)
		for r := range ranks {
			fmt.Fprintf(&b, "vllm:%s{engine=\"%d\",model_name=\"m\"} 100\n", name, r)
		}
	}
	for _, name := range []string{"time_to_first_token_seconds", "inter_token_latency_seconds", "request_time_per_output_token_seconds", "e2e_request_latency_seconds",
		"request_queue_time_seconds", "request_prefill_time_seconds", "request_decode_time_seconds", "request_inference_time_seconds",
		"request_prompt_tokens", "request_generation_tokens", "iteration_tokens_total", "nixl_xfer_time_seconds"} {
		fmt.Fprintf(&b, "# TYPE vllm:%s histogram\n", name)
		for r := range ranks {
			label := fmt.Sprintf("engine=\"%d\",model_name=\"m\"", r)
			for i := range 22 {
				fmt.Fprintf(&b, "vllm:%s_bucket{%s,le=\"%g\"} %d\n", name, label, 0.01*float64(int(1)<<i), min(i, 10))
			}
			fmt.Fprintf(&b, "vllm:%s_bucket{%s,le=\"+Inf\"} 10\nvllm:%s_sum{%s} 5\nvllm:%s_count{%s} 10\n", name, label, name, label, name, label)
		}
	}
	return b.String()
}
