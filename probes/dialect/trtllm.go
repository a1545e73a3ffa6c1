package dialect

import "llmtop/probes"

// trtllm is the vocabulary of trtllm-serve's page /prometheus/metrics (its /metrics is
// JSON, and reading that takes it away from others). Since 1.2 names begin with
// trtllm_; before, they had no prefix and the label engine_type beside them proves it.
//
// Everything about requests is observed when one ends; gauges are of the last
// iteration and there only with enable_iter_perf_stats. Exported by several
// processes, so gauges have a pid, and neither start time nor _created is there.
//
// What is left out: iteration_latency_seconds, a gauge of one iteration;
// max_batch_size_*, limits that max_num_active_requests already holds.
var trtllm = table{
	name: "trtllm", prefix: "trtllm_",
	all: []string{"e2e_request_latency_seconds", "time_to_first_token_seconds"}, with: where{{labels: []string{"engine_type"}}},
	finishes: true,
	rows: []row{
		{of: "running", names: trt("num_requests_running")},
		{of: "waiting", names: trt("num_requests_waiting")},
		{of: "kv_usage_ratio", names: trt("kv_cache_utilization")},
		{of: "kv_cache_tokens", names: trt("kv_cache_max_blocks"), times: trt("kv_cache_tokens_per_block"), how: probes.Difference},
		{of: "max_num_seqs", names: trt("max_num_active_requests")},
		{of: "max_num_batched_tokens", names: trt("max_num_tokens_runtime")},

		{of: "prompt_tokens_total", names: trt("prompt_tokens")},
		{of: "generation_tokens_total", names: trt("generation_tokens")},
		// Cached and all prompt tokens of the requests that ended; before, blocks that were
		// looked up, without the prompt's last, unfilled one; before that a share since the start.
		{of: "prefix_queries_total", names: trt("prompt_tokens"), needs: trt("prompt_cached_tokens"), how: probes.Difference},
		{of: "prefix_queries_total", names: trt("kv_cache_reused_blocks"), plus: trt("kv_cache_missed_blocks"), times: trt("kv_cache_tokens_per_block"), how: probes.Estimated},
		{of: "prefix_hits_total", names: trt("prompt_cached_tokens")},
		{of: "prefix_hits_total", names: trt("kv_cache_reused_blocks"), times: trt("kv_cache_tokens_per_block"), how: probes.Estimated},
		{of: "prefix_hit_ratio", names: trt("kv_cache_hit_rate"), lacks: append(trt("prompt_cached_tokens"), trt("kv_cache_reused_blocks")...), how: probes.Estimated},
		{of: "prompt_cached_tokens_total", names: trt("prompt_cached_tokens")},
		{of: "finished_total", names: trt("request_success"), where: finish("stop", "length")},
		{of: "failed_total", names: trt("request_success"), plus: trt("request_error"), where: trtFailed},
		{of: "failed_total", names: trt("request_error"), where: trtFailed},
		{of: "aborted_total", names: trt("request_success"), where: finish("cancelled")},
		{of: "rejected_total", names: trt("request_error"), where: is("http_code", "429")},
		{of: "spec_draft_tokens_total", names: append(trt("spec_decode_num_draft_tokens"), "trtllm_spec_decode_drafted_tokens")},
		{of: "spec_accepted_tokens_total", names: append(trt("spec_decode_num_accepted_tokens"), "trtllm_spec_decode_accepted_tokens")},

		{of: "ttft_seconds", names: trt("time_to_first_token_seconds")},
		{of: "tpot_seconds", names: trt("time_per_output_token_seconds")},
		{of: "e2e_seconds", names: trt("e2e_request_latency_seconds")},
		// Older releases did not observe a queue time of 0. The prefill's time beside it is
		// taken as the sign of one that does; without it the mean is over all requests, as the
		// distribution would be of those that waited.
		{of: "queue_seconds", names: trt("request_queue_time_seconds"), needs: trt("request_prefill_time_seconds")},
		{of: "queue_seconds", names: []string{"trtllm_request_queue_time_seconds_sum", "request_queue_time_seconds_sum"},
			count: []string{"trtllm_e2e_request_latency_seconds_count", "e2e_request_latency_seconds_count"}, how: probes.Difference},
		{of: "prefill_seconds", names: trt("request_prefill_time_seconds")},
		{of: "decode_seconds", names: trt("request_decode_time_seconds")},
	},
	waits: []waitRow{
		{name: "queued", names: trt("num_requests_waiting")},
		{name: "paused", names: trt("num_paused_requests")}, // for want of KV blocks; still among the running
	},
}

// trt is a name in both generations.
func trt(name string) []string { return []string{"trtllm_" + name, name} }

// trtFailed is what ended otherwise than well, and of the answers with an error those
// that are the server's fault: each family has one of the labels.
var trtFailed = where{
	{labels: []string{"finished_reason"}, values: []string{"stop", "length"}, not: true},
	{labels: []string{"http_code"}, values: []string{"", "500", "501", "502", "503", "504"}},
}
