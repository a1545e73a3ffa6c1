package dialect

import "llmtop/probes"

// lmdeploy is LMDeploy's vocabulary, of both its backends. Requests wait twice: in the
// server for a free handle, then in the engine. The label engine is the data-parallel
// rank; each rank has a page of its own.
//
// What it does not tell: how many tokens the KV cache holds, preemptions, a time before
// the queue. Its histogram iteration_tokens is said to be of the engine's steps, but is
// observed for each request's part of a step: no step_tokens.
var lmdeploy = table{
	name: "lmdeploy", prefix: "lmdeploy_",
	instances: []string{"engine"},
	rows: []row{
		{of: "running", names: []string{"lmdeploy_num_requests_running"}},
		{of: "waiting", names: []string{"lmdeploy_num_api_requests_waiting"}, plus: []string{"lmdeploy_num_requests_waiting"}},
		// Before 0.12 the server's own queue is only in what is unfinished.
		{of: "waiting", names: []string{"lmdeploy_num_requests_unfinished"}, less: []string{"lmdeploy_num_requests_running"}, how: probes.Difference},
		// With TurboMind cached prefixes are in it: near 1 is healthy there. The page does not say which backend it is.
		{of: "kv_usage_ratio", names: []string{"lmdeploy_gpu_cache_usage_perc"}, how: probes.Estimated},
		{of: "start_unix_seconds", names: []string{"process_start_time_seconds"}},

		{of: "prompt_tokens_total", names: []string{"lmdeploy_prompt_tokens"}},         // with the first token
		{of: "generation_tokens_total", names: []string{"lmdeploy_generation_tokens"}}, // live
		// Hits are counted when a request ends; so is what was looked up for it.
		{of: "prefix_queries_total", names: []string{"lmdeploy_request_prompt_tokens_sum"}, needs: []string{"lmdeploy_cached_tokens"}},
		{of: "prefix_hits_total", names: []string{"lmdeploy_cached_tokens"}},
		{of: "prefix_hit_ratio", names: []string{"lmdeploy_prefix_cache_hit_rate"}, lacks: []string{"lmdeploy_cached_tokens"}, how: probes.Estimated},
		{of: "prompt_cached_tokens_total", names: []string{"lmdeploy_cached_tokens"}},
		// request_success counts every end, and says how by a Python name; ends without a token are
		// missing there, but not in the gauge, which only grows.
		{of: "finished_total", names: []string{"lmdeploy_request_success"}, where: is("finished_reason", "ResponseType.FINISH")},
		{of: "failed_total", names: []string{"lmdeploy_num_requests_failed"}, types: gauges},
		{of: "failed_total", names: []string{"lmdeploy_request_success"}, where: isNot("finished_reason", "ResponseType.FINISH", "ResponseType.SUCCESS")},
		{of: "aborted_total", names: []string{"lmdeploy_request_success"}, where: is("finished_reason", "ResponseType.CANCEL")},
		{of: "spec_drafts_total", names: []string{"lmdeploy_spec_decode_num_drafts"}},
		{of: "spec_draft_tokens_total", names: []string{"lmdeploy_spec_decode_num_draft_tokens"}},
		{of: "spec_accepted_tokens_total", names: []string{"lmdeploy_spec_decode_num_accepted_tokens"}},

		{of: "ttft_seconds", names: []string{"lmdeploy_time_to_first_token_seconds"}},
		// One value a step, however many tokens it yielded: their mean is not that over tokens.
		{of: "tpot_seconds", names: []string{"lmdeploy_time_per_output_token_seconds"}, how: probes.Estimated},
		{of: "step_seconds", names: []string{"lmdeploy_iter_token_latency"}},
		{of: "e2e_seconds", names: []string{"lmdeploy_e2e_request_latency_seconds"}},
		{of: "queue_seconds", names: []string{"lmdeploy_request_queue_time_seconds"}},
		{of: "prefill_seconds", names: []string{"lmdeploy_request_prefill_time_seconds"}},
		{of: "decode_seconds", names: []string{"lmdeploy_request_decode_time_seconds"}},
		{of: "prompt_length_tokens", names: []string{"lmdeploy_request_prompt_tokens"}},
		{of: "output_length_tokens", names: []string{"lmdeploy_request_generation_tokens"}},
	},
	waits: []waitRow{
		{name: "server", names: []string{"lmdeploy_num_api_requests_waiting"}},
		{name: "engine", names: []string{"lmdeploy_num_requests_waiting"}},
	},
}
