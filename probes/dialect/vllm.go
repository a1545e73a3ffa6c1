package dialect

import "llmtop/probes"

// vllm is vLLM's vocabulary: the names of its V1 engine, after them those that
// older releases used (metrics were renamed in 0.9 to 0.13). Our own engine
// speaks it too, and tells more under llmtop's own names.
//
// The label engine parts a data-parallel server's engines, which stand behind one page;
// under Ray it is the worker's or replica's.
var vllm = table{
	name: "vllm", prefix: "vllm_",
	instances: []string{"engine", "ReplicaId", "WorkerId"},
	rows: []row{
		{of: "running", names: []string{"vllm_num_requests_running"}},
		{of: "waiting", names: []string{"vllm_num_requests_waiting", "vllm_num_requests_waiting_by_reason"}},
		{of: "kv_usage_ratio", names: []string{"vllm_kv_cache_usage_perc", "vllm_gpu_cache_usage_perc"}},
		{of: "kv_cache_tokens", names: []string{"vllm_cache_config_info"}, label: []string{"kv_cache_size_tokens", "num_gpu_blocks*block_size"}},
		{of: "max_num_seqs", names: []string{"llmtop_engine_config_info"}, label: []string{"max_num_seqs"}},
		{of: "max_num_batched_tokens", names: []string{"llmtop_engine_config_info"}, label: []string{"max_num_batched_tokens"}},
		{of: "start_unix_seconds", names: []string{"process_start_time_seconds"}},

		{of: "prompt_tokens_total", names: []string{"vllm_prompt_tokens"}},
		{of: "generation_tokens_total", names: []string{"vllm_generation_tokens"}},
		{of: "tokens_per_second", names: []string{"vllm_avg_generation_throughput_toks_per_s"}, how: probes.Estimated},
		{of: "prefix_queries_total", names: []string{"vllm_prefix_cache_queries", "vllm_gpu_prefix_cache_queries"}},
		{of: "prefix_hits_total", names: []string{"vllm_prefix_cache_hits", "vllm_gpu_prefix_cache_hits"}},
		{of: "prefix_hit_ratio", names: []string{"vllm_gpu_prefix_cache_hit_rate"}, lacks: []string{"vllm_prefix_cache_queries", "vllm_gpu_prefix_cache_queries"}, how: probes.Estimated},
		{of: "prompt_computed_tokens_total", names: []string{"vllm_prompt_tokens_by_source"}, where: is("source", "local_compute")},
		{of: "prompt_cached_tokens_total", names: []string{"vllm_prompt_tokens_by_source"}, where: is("source", "local_cache_hit")},
		{of: "prompt_received_tokens_total", names: []string{"vllm_prompt_tokens_by_source"}, where: is("source", "external_kv_transfer")},
		{of: "preemptions_total", names: []string{"vllm_num_preemptions"}},
		{of: "finished_total", names: []string{"vllm_request_success"}, where: finish("stop", "length", "repetition")},
		{of: "failed_total", names: []string{"vllm_request_success"}, where: finish("abort", "error")},
		{of: "aborted_total", names: []string{"vllm_request_success"}, where: finish("abort")},
		{of: "rejected_total", names: []string{"vllm_admission_rejections", "llmtop_requests_rejected"}},
		{of: "spec_drafts_total", names: []string{"vllm_spec_decode_num_drafts"}},
		{of: "spec_draft_tokens_total", names: []string{"vllm_spec_decode_num_draft_tokens"}},
		{of: "spec_accepted_tokens_total", names: []string{"vllm_spec_decode_num_accepted_tokens"}},
		{of: "spec_acceptance_ratio", names: []string{"vllm_spec_decode_draft_acceptance_rate"}, lacks: []string{"vllm_spec_decode_num_draft_tokens"}, how: probes.Estimated},

		{of: "ttft_seconds", names: []string{"vllm_time_to_first_token_seconds"}},
		{of: "tpot_seconds", names: []string{"vllm_request_time_per_output_token_seconds"}},
		// A step yields several tokens when drafts are accepted: what the steps took over what came out.
		{of: "tpot_seconds", names: []string{"vllm_inter_token_latency_seconds_sum"}, count: []string{"vllm_generation_tokens"}, needs: specDecoding, how: probes.Difference},
		{of: "tpot_seconds", names: []string{"vllm_inter_token_latency_seconds", "vllm_time_per_output_token_seconds"}, lacks: specDecoding, how: probes.Estimated},
		{of: "step_seconds", names: []string{"vllm_inter_token_latency_seconds", "vllm_time_per_output_token_seconds"}},
		{of: "e2e_seconds", names: []string{"vllm_e2e_request_latency_seconds"}},
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
		{names: []string{"llmtop_class_requests_waiting"}, by: "class"},
	},
}

// specDecoding are families that are there only when drafts are made.
var specDecoding = []string{"vllm_spec_decode_num_draft_tokens", "vllm_spec_decode_num_accepted_tokens"}

// finish restricts by how requests ended: vLLM says finished_reason, its public simulator finish_reason.
func finish(reasons ...string) where {
	return where{{labels: []string{"finished_reason", "finish_reason"}, values: reasons}}
}
