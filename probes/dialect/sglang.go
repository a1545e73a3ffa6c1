package dialect

import "llmtop/probes"

// sglang is SGLang's vocabulary. A page is written by several processes: schedulers tell
// of queues, cache and steps, one for each rank, with the labels tp_rank, pp_rank and
// moe_ep_rank (ranks of one engine tell the same) and dp_rank (those do not); the
// tokenizer tells of latencies, and of tokens and requests when a request ends, with
// the model alone. With data-parallel attention tp_rank counts on from one dp_rank to
// the next. Through the gateway there is a worker_addr, under Ray a ReplicaId.
//
// What it does not tell: when the process started, a time before the queue, a time of
// decode (traced only), the size of steps. Its gauge num_retracted_reqs is what the
// last interval retracted, and left behind by each pid: no counter of preemptions.
var sglang = table{
	name: "sglang", prefix: "sglang_",
	instances: []string{"worker_addr", "ReplicaId", "dp_rank"},
	ranks:     []string{"tp_rank", "pp_rank", "moe_ep_rank"},
	roleLabel: "engine_type",
	roles:     map[string]probes.Role{"unified": probes.Whole, "prefill": probes.Prefill, "decode": probes.Decode},
	finishes:  true, atFinish: sglangLive,
	rows: []row{
		{of: "running", names: []string{"sglang_num_running_reqs"}, where: sglangTotal},
		{of: "waiting", names: []string{"sglang_num_queue_reqs"}, where: sglangTotal, plus: []string{"sglang_num_grammar_queue_reqs",
			"sglang_num_prefill_bootstrap_queue_reqs", "sglang_num_prefill_prealloc_queue_reqs", "sglang_num_prefill_inflight_queue_reqs",
			"sglang_num_decode_prealloc_queue_reqs", "sglang_num_decode_transfer_queue_reqs"}},
		// token_usage is the fullest pool only in newer releases. Cached prefixes that may be evicted are not in it.
		{of: "kv_usage_ratio", names: []string{"sglang_token_usage"}, plus: []string{"sglang_full_token_usage", "sglang_swa_token_usage", "sglang_mamba_usage"}},
		{of: "kv_cache_tokens", names: []string{"sglang_max_total_num_tokens"}},
		{of: "kv_cache_tokens", names: []string{"sglang_cache_config_info"}, label: []string{"num_pages*page_size"}},
		{of: "start_unix_seconds", names: []string{"process_start_time_seconds"}},

		// Counted live by the schedulers; what is computed again after a retraction counts again
		// in realtime_tokens, whose decode lacks the first token of each request.
		{of: "prompt_tokens_total", names: []string{"sglang_prefill_effective_tokens"}},
		{of: "prompt_tokens_total", names: sglangLive, where: is("mode", "prefill_compute", "prefill_cache"), how: probes.Estimated},
		{of: "prompt_tokens_total", names: []string{"sglang_prompt_tokens"}, lacks: sglangLive},
		{of: "generation_tokens_total", names: sglangLive, where: is("mode", "decode"), how: probes.Estimated},
		{of: "generation_tokens_total", names: []string{"sglang_generation_tokens"}, lacks: sglangLive},
		// The gauge keeps its last value when nothing runs any more.
		{of: "tokens_per_second", names: []string{"sglang_gen_throughput"}, gate: []string{"sglang_num_running_reqs"}, where: sglangTotal, how: probes.Estimated},
		{of: "prefix_queries_total", names: []string{"sglang_prefill_effective_tokens"}},
		{of: "prefix_queries_total", names: sglangLive, where: is("mode", "prefill_compute", "prefill_cache")},
		{of: "prefix_queries_total", names: []string{"sglang_prompt_tokens"}, needs: []string{"sglang_cached_tokens"}, lacks: sglangLive},
		{of: "prefix_hits_total", names: []string{"sglang_prefill_effective_tokens"}, where: is("mode", "device_hit", "host_hit", "storage_hit")},
		{of: "prefix_hits_total", names: sglangLive, where: is("mode", "prefill_cache")},
		{of: "prefix_hits_total", names: []string{"sglang_cached_tokens"}, lacks: sglangLive},
		// Of the last batch, and 0 after each step of decode in newer releases.
		{of: "prefix_hit_ratio", names: []string{"sglang_cache_hit_rate"}, how: probes.Estimated,
			lacks: []string{"sglang_prefill_effective_tokens", "sglang_realtime_tokens", "sglang_cached_tokens"}},
		{of: "prompt_computed_tokens_total", names: []string{"sglang_prefill_effective_tokens"}, where: is("mode", "input")},
		{of: "prompt_computed_tokens_total", names: sglangLive, where: is("mode", "prefill_compute")},
		{of: "prompt_cached_tokens_total", names: []string{"sglang_prefill_effective_tokens"}, where: is("mode", "device_hit", "host_hit")},
		{of: "prompt_cached_tokens_total", names: sglangLive, where: is("mode", "prefill_cache")},
		{of: "prompt_cached_tokens_total", names: []string{"sglang_cached_tokens"}, where: is("cache_source", "device", "host", "total", ""), lacks: sglangLive},
		{of: "prompt_received_tokens_total", names: []string{"sglang_prefill_effective_tokens"}, where: is("mode", "storage_hit")},
		{of: "prompt_received_tokens_total", names: []string{"sglang_cached_tokens"}, lacks: []string{"sglang_prefill_effective_tokens"},
			where: both(is("cache_source"), isNot("cache_source", "device", "host", "total"))},
		{of: "preemptions_total", names: []string{"sglang_num_retracted_requests"}},
		{of: "preemptions_total", names: []string{"sglang_num_retractions_sum"}, how: probes.Estimated}, // of requests that ended
		// Those that were aborted while they ran are counted as processed, too.
		{of: "finished_total", names: []string{"sglang_num_requests", "sglang_e2e_request_latency_seconds_count"}, how: probes.Estimated},
		{of: "failed_total", names: []string{"sglang_num_aborted_requests"}, plus: []string{"sglang_num_bootstrap_failed_reqs", "sglang_num_transfer_failed_reqs"}},
		{of: "failed_total", names: []string{"sglang_num_bootstrap_failed_reqs"}, plus: []string{"sglang_num_transfer_failed_reqs"}},
		{of: "failed_total", names: []string{"sglang_num_transfer_failed_reqs"}},
		{of: "aborted_total", names: []string{"sglang_num_aborted_requests"}},
		{of: "spec_drafts_total", names: []string{"sglang_spec_verify_calls"}},
		// Both gauges are 0 as long as nothing is drafted; an accepted length is at least 1.
		{of: "spec_acceptance_ratio", names: []string{"sglang_spec_accept_rate"}, gate: []string{"sglang_spec_accept_length"}, how: probes.Estimated},

		// Requests that do not stream have no first token before their end.
		{of: "ttft_seconds", names: []string{"sglang_time_to_first_token_seconds"}, where: prefers("is_streaming", "true")},
		{of: "tpot_seconds", names: []string{"sglang_inter_token_latency_seconds"}}, // weighted by tokens
		// A request's mean so far, once for each of its outputs.
		{of: "tpot_seconds", names: []string{"sglang_time_per_output_token_seconds"}, how: probes.Estimated},
		// Where it can be told that nothing is drafted, a step yields a token.
		{of: "step_seconds", names: []string{"sglang_inter_token_latency_seconds"}, needs: []string{"sglang_spec_num_steps"}, lacks: []string{"sglang_spec_verify_calls"}, how: probes.Estimated},
		{of: "e2e_seconds", names: []string{"sglang_e2e_request_latency_seconds"}},
		{of: "queue_seconds", names: []string{"sglang_queue_time_seconds"}},
		{of: "prefill_seconds", names: sglangStages, where: is("stage", "prefill_forward")},
		{of: "transfer_seconds", names: sglangStages, where: is("stage", "decode_transferred")},
		{of: "transfer_seconds", names: sglangStages, where: is("stage", "prefill_transfer_kv_cache")},
		{of: "transfer_seconds", names: []string{"sglang_kv_transfer_latency_ms"}, scale: 1e-3}, // a gauge in older releases
		{of: "prompt_length_tokens", names: []string{"sglang_prompt_tokens_histogram"}},
		{of: "output_length_tokens", names: []string{"sglang_generation_tokens_histogram"}},
	},
	waits: []waitRow{
		{name: "grammar", names: []string{"sglang_num_grammar_queue_reqs"}, where: sglangTotal},
		{name: "prefill bootstrap", names: []string{"sglang_num_prefill_bootstrap_queue_reqs", "sglang_num_prefill_prealloc_queue_reqs"}, where: sglangOf("prefill")},
		{name: "prefill transfer", names: []string{"sglang_num_prefill_inflight_queue_reqs"}, where: sglangOf("prefill")},
		{name: "decode prealloc", names: []string{"sglang_num_decode_prealloc_queue_reqs"}, where: sglangOf("decode")},
		{name: "decode transfer", names: []string{"sglang_num_decode_transfer_queue_reqs"}, where: sglangOf("decode")},
	},
}

var (
	sglangLive   = []string{"sglang_realtime_tokens"}
	sglangStages = []string{"sglang_per_stage_req_latency_seconds"}
	// With priorities the empty one is the total.
	sglangTotal = prefers("priority", "")
)

// sglangOf keeps the queues of instances with one role: the others tell 0 of them.
func sglangOf(role string) where { return both(sglangTotal, is("engine_type", role)) }
