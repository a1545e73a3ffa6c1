package dialect

import "llmtop/probes"

// vllm is vLLM's vocabulary: the names of its V1 engine, after them those that
// older releases used (metrics were renamed in 0.9 to 0.13; V0, up to 0.8, had others).
// Our own engine speaks it too, and tells more under llmtop's own names. Ray Serve LLM
// re-exports it with ray_ in front, every counter twice; it is vLLM all the same.
//
// The label engine parts a data-parallel server's engines, which stand behind one page.
// On a node's page of Ray each replica has an engine "0": there the replica, or the
// worker, is the part.
//
// What is left out: http_requests_total (a 4xx is no failure of the engine);
// corrupted_requests (they are in request_success as well); lora_requests_info (its
// value is a time).
var vllm = table{
	name: "vllm", prefix: "vllm_",
	model:     []string{"model_name", "model"}, // Triton's vLLM backend says model
	instances: []string{"ReplicaId", "WorkerId", "engine"},
	rows: []row{
		{of: "running", names: []string{"vllm_num_requests_running"}},
		// V0 parks sequences in host memory when KV blocks run out; V1 puts them back into the queue.
		{of: "waiting", names: []string{"vllm_num_requests_waiting", "vllm_num_requests_waiting_by_reason"}, plus: []string{"vllm_num_requests_swapped"}},
		{of: "kv_usage_ratio", names: []string{"vllm_kv_cache_usage_perc", "vllm_gpu_cache_usage_perc"}},
		{of: "kv_cache_tokens", names: []string{"vllm_cache_config_info"}, label: []string{"kv_cache_size_tokens"}},
		// Too much for models whose layers differ (sliding window, Mamba), and nothing tells them apart.
		{of: "kv_cache_tokens", names: []string{"vllm_cache_config_info"}, label: []string{"num_gpu_blocks*block_size"}, how: probes.Estimated},
		{of: "max_num_seqs", names: []string{"llmtop_engine_config_info"}, label: []string{"max_num_seqs"}},
		{of: "max_num_batched_tokens", names: []string{"llmtop_engine_config_info"}, label: []string{"max_num_batched_tokens"}},
		{of: "start_unix_seconds", names: []string{"process_start_time_seconds"}},

		{of: "prompt_tokens_total", names: []string{"vllm_prompt_tokens"}},
		{of: "generation_tokens_total", names: []string{"vllm_generation_tokens"}},
		{of: "tokens_per_second", names: []string{"vllm_avg_generation_throughput_toks_per_s"}, how: probes.Estimated},
		// By source each prompt token is counted once, when its prefill ends. The lookups of
		// the prefix cache are counted again whenever a waiting request is tried again (up to
		// 30 times, until 2026-07) or recomputed; before 0.9 they are blocks, not tokens.
		{of: "prefix_queries_total", names: []string{"vllm_prompt_tokens_by_source"}, how: probes.Difference},
		{of: "prefix_queries_total", names: []string{"vllm_prefix_cache_queries", "vllm_gpu_prefix_cache_queries"}, how: probes.Estimated},
		{of: "prefix_hits_total", names: []string{"vllm_prompt_tokens_by_source"}, where: is("source", "local_cache_hit")},
		{of: "prefix_hits_total", names: []string{"vllm_prefix_cache_hits", "vllm_gpu_prefix_cache_hits"}, lacks: bySource, how: probes.Estimated},
		{of: "prefix_hit_ratio", names: []string{"vllm_gpu_prefix_cache_hit_rate"}, lacks: []string{"vllm_prefix_cache_queries", "vllm_gpu_prefix_cache_queries"}, how: probes.Estimated},
		{of: "prompt_computed_tokens_total", names: []string{"vllm_prompt_tokens_by_source"}, where: is("source", "local_compute")},
		{of: "prompt_cached_tokens_total", names: []string{"vllm_prompt_tokens_by_source"}, where: is("source", "local_cache_hit")},
		{of: "prompt_received_tokens_total", names: []string{"vllm_prompt_tokens_by_source"}, where: is("source", "external_kv_transfer")},
		{of: "prompt_received_tokens_total", names: []string{"vllm_external_prefix_cache_hits"}, lacks: bySource, how: probes.Estimated},
		{of: "preemptions_total", names: []string{"vllm_num_preemptions"}},
		{of: "finished_total", names: []string{"vllm_request_success"}, where: finish("stop", "length", "repetition")},
		{of: "failed_total", names: []string{"vllm_request_success"}, where: finish("abort", "error")},
		{of: "aborted_total", names: []string{"vllm_request_success"}, where: finish("abort")},
		{of: "rejected_total", names: []string{"vllm_admission_rejections", "llmtop_requests_rejected"}},
		{of: "spec_drafts_total", names: []string{"vllm_spec_decode_num_drafts"}},
		{of: "spec_draft_tokens_total", names: []string{"vllm_spec_decode_num_draft_tokens"}},
		{of: "spec_accepted_tokens_total", names: []string{"vllm_spec_decode_num_accepted_tokens"}},
		{of: "spec_acceptance_ratio", names: []string{"vllm_spec_decode_draft_acceptance_rate"}, lacks: []string{"vllm_spec_decode_num_draft_tokens"}, how: probes.Estimated},

		// The public simulator's TTFT leaves the queue out. Its names are vLLM's; this
		// family, which vLLM calls request_max_…, gives it away once it has answered.
		{of: "ttft_seconds", names: []string{"vllm_time_to_first_token_seconds"}, needs: []string{"vllm_max_num_generation_tokens"}, how: probes.Estimated},
		{of: "ttft_seconds", names: []string{"vllm_time_to_first_token_seconds"}},
		{of: "tpot_seconds", names: []string{"vllm_request_time_per_output_token_seconds"}},
		// A step yields several tokens when drafts are accepted: what the steps took over what came out.
		{of: "tpot_seconds", names: []string{"vllm_inter_token_latency_seconds_sum", "vllm_time_per_output_token_seconds_sum"}, count: []string{"vllm_generation_tokens"}, needs: specDecoding, how: probes.Difference},
		{of: "tpot_seconds", names: []string{"vllm_inter_token_latency_seconds", "vllm_time_per_output_token_seconds"}, lacks: specDecoding, how: probes.Estimated},
		{of: "step_seconds", names: []string{"vllm_inter_token_latency_seconds", "vllm_time_per_output_token_seconds"}},
		{of: "e2e_seconds", names: []string{"vllm_e2e_request_latency_seconds"}},
		{of: "frontend_seconds", names: []string{"llmtop_request_stage_seconds_sum"}, where: is("stage", "receive", "auth", "parse", "assemble", "tokenize"),
			count: []string{"llmtop_request_stage_seconds_count"}, per: is("stage", "tokenize")},
		// Of the three, which are observed together when a request ends, only the first
		// counts from arrival. In V0 all do, and nothing is left.
		{of: "frontend_seconds", names: []string{"vllm_e2e_request_latency_seconds_sum"}, minus: []string{"vllm_request_queue_time_seconds_sum", "vllm_request_inference_time_seconds_sum"},
			count: []string{"vllm_e2e_request_latency_seconds_count"}, needs: []string{"vllm_prefix_cache_queries", "vllm_gpu_prefix_cache_queries"}, how: probes.Difference},
		{of: "queue_seconds", names: []string{"vllm_request_queue_time_seconds", "vllm_time_in_queue_requests"}},
		{of: "prefill_seconds", names: []string{"vllm_request_prefill_time_seconds"}},
		{of: "decode_seconds", names: []string{"vllm_request_decode_time_seconds"}},
		{of: "transfer_seconds", names: []string{"vllm_nixl_xfer_time_seconds"}},
		{of: "prompt_length_tokens", names: []string{"vllm_request_prompt_tokens"}},
		{of: "output_length_tokens", names: []string{"vllm_request_generation_tokens"}},
		{of: "step_tokens", names: []string{"vllm_iteration_tokens"}},
	},
	waits: []waitRow{
		{names: []string{"vllm_num_requests_waiting_by_reason"}, by: "reason"},
		{names: []string{"vllm_num_requests_swapped"}, name: "swapped"},
		{names: []string{"llmtop_class_requests_waiting"}, by: "class"},
		{names: []string{"serve_deployment_queued_queries"}, by: "deployment"}, // not yet at an engine: no part of waiting
	},
}

// specDecoding are families that are there only when drafts are made.
var specDecoding = []string{"vllm_spec_decode_num_draft_tokens", "vllm_spec_decode_num_accepted_tokens"}

var bySource = []string{"vllm_prompt_tokens_by_source"}

// finish restricts by how requests ended: vLLM says finished_reason, its public simulator finish_reason.
func finish(reasons ...string) where {
	return where{{labels: []string{"finished_reason", "finish_reason"}, values: reasons}}
}
