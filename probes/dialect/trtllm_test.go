package dialect

import (
	"strings"
	"testing"
)

func TestTRTLLM(t *testing.T) {
	e := checkPage(t, "trtllm-1.3", "trtllm", []wanted{
		{"active, the paused among them", "running", "22", exact},
		{"queued", "waiting", "4", exact},
		{"used over max, as told", "kv_usage_ratio", "0.578125", exact},
		{"8192 blocks of 32", "kv_cache_tokens", "262144", difference},
		{"cap", "max_num_seqs", "64", exact},
		{"cap of a step", "max_num_batched_tokens", "8192", exact},
		{"all prompt tokens", "prefix_queries_total", "160000", difference},
		{"of them cached", "prefix_hits_total", "40000", exact},
		{"the counters are better than the rate since the start", "prefix_hit_ratio", "-", untold},
		{"stop and length", "finished_total", "200", exact},
		{"8 cancelled, 2 timed out, 3 of 500, 1 of 503; 30 of 400 are the clients' fault", "failed_total", "14", exact},
		{"cancelled", "aborted_total", "8", exact},
		{"429", "rejected_total", "7", exact},
		{"not once more by position", "spec_draft_tokens_total", "60000", exact},
		{"per request", "tpot_seconds", "200/4.8", exact},
		{"one iteration is no distribution", "step_seconds", "-", untold},
		{"zero is observed in this release", "queue_seconds", "200/20", exact},
		{"fine buckets of its own", "prefill_seconds", "200/30", exact},
		{"several processes: no start", "start_unix_seconds", "-", untold},
	})
	if !e.AtFinish || e.Model != "llama-70b" || waits(e) != "queued 4, paused 2" || e.Prefill.Bounds[0] != .001 {
		t.Errorf("at finish %v, model %q, waits %s", e.AtFinish, e.Model, waits(e))
	}
}

func TestTRTLLMUnprefixed(t *testing.T) {
	checkPage(t, "trtllm-1.1", "trtllm", []wanted{
		{"requests", "e2e_seconds", "80/480", exact},
		{"10 of 80 waited 4 s: 50 ms each", "queue_seconds", "80/4!", difference},
		{"ended", "finished_total", "80", exact},
		{"no gauges in this release", "running", "-", untold},
		{"nothing is said of errors", "failed_total", "-", untold},
	})
}

func TestTRTLLMSmallPages(t *testing.T) {
	const proof = `# TYPE e2e_request_latency_seconds histogram
e2e_request_latency_seconds_bucket{L,le="+Inf"} 1
e2e_request_latency_seconds_sum{L} 1
e2e_request_latency_seconds_count{L} 1
# TYPE time_to_first_token_seconds histogram
time_to_first_token_seconds_bucket{L,le="+Inf"} 1
time_to_first_token_seconds_sum{L} 1
time_to_first_token_seconds_count{L} 1
`
	if e := Decode(parse(strings.ReplaceAll(proof, "L", `model_name="m"`))); e != nil {
		t.Errorf("without engine_type anybody's names: %s", say(e))
	}
	unprefixed := Decode(parse(strings.ReplaceAll(proof, "L", `engine_type="undefined"`) + "# TYPE kv_cache_hit_rate gauge\nkv_cache_hit_rate{engine_type=\"undefined\"} 0.25\n"))
	check(t, "unprefixed", unprefixed, []wanted{{"since the start", "prefix_hit_ratio", "0.25", estimated}})
	check(t, "pids", Decode(parse(`# TYPE trtllm_kv_cache_utilization gauge
trtllm_kv_cache_utilization{pid="1"} 0
trtllm_kv_cache_utilization{pid="2"} 0.75
# TYPE trtllm_kv_cache_max_blocks gauge
trtllm_kv_cache_max_blocks{pid="1"} 0
trtllm_kv_cache_max_blocks{pid="2"} 100
`)), []wanted{
		{"the process that knows", "kv_usage_ratio", "0.75", exact},
		{"without the size of a block no tokens", "kv_cache_tokens", "-", untold},
	})
	check(t, "blocks", Decode(parse(`# TYPE trtllm_kv_cache_reused_blocks_total counter
trtllm_kv_cache_reused_blocks_total 5
# TYPE trtllm_kv_cache_missed_blocks_total counter
trtllm_kv_cache_missed_blocks_total 15
# TYPE trtllm_kv_cache_tokens_per_block gauge
trtllm_kv_cache_tokens_per_block 32
`)), []wanted{
		{"20 blocks of 32", "prefix_queries_total", "640", estimated},
		{"5 of them", "prefix_hits_total", "160", estimated},
	})
	check(t, "errors alone", Decode(parse("# TYPE trtllm_request_error_total counter\ntrtllm_request_error_total{http_code=\"400\"} 5\n")), []wanted{
		{"not of the server's making", "failed_total", "-", untold},
	})
	check(t, "as Dynamo passes it on", Decode(parse("# TYPE trtllm:num_requests_running gauge\ntrtllm:num_requests_running 5\n")), []wanted{{"colon", "running", "5", exact}})
}
