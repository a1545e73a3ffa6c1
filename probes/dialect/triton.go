package dialect

import "llmtop/probes"

// triton is the vocabulary of Triton Inference Server with the TensorRT-LLM backend
// (page :8002/metrics): nv_inference_* of the server for each model, nv_trt_llm_*
// and nv_llm_* of the backend.
//
// An ensemble passes a request through several models, and each of them counts it:
// ensemble (or tensorrt_llm_bls), preprocessing, tensorrt_llm, postprocessing. Only
// tensorrt_llm is read; whatever its name, it is the one that is none of the others.
// So e2e begins after preprocessing, whose own time is the frontend's, and finished is
// not four times what it is. Versions of a model are added up. (Backends before 2024 left
// the counters of tensorrt_llm at 0: tensorrtllm_backend issues 49 and 284.)
//
// Times are cumulative microseconds, told when a request ends. The server's queue
// time is short even when requests wait, as the backend takes them at once and keeps
// its own queue; how long they wait there is in compute_infer, with prefill and decode,
// and not told apart.
var triton = table{
	name: "triton", prefix: "nv_trt_llm_", all: []string{"nv_inference_request_success", "nv_inference_request_duration_us"},
	model: []string{"model"}, modelIn: []string{"nv_trt_llm_request_metrics"},
	finishes: true,
	rows: []row{
		{of: "running", names: tritonRequests, where: is("request_type", "scheduled")},
		{of: "running", names: tritonRequests, where: is("request_type", "active")},
		{of: "waiting", names: tritonRequests, where: both(is("request_type", "waiting", ""), theLLM), plus: []string{"nv_inference_pending_request_count"}},
		{of: "waiting", names: []string{"nv_inference_pending_request_count"}, where: theLLM},
		// fraction, told beside them, is not used over max in every release.
		{of: "kv_usage_ratio", names: tritonBlocks, where: is("kv_cache_block_type", "used"), over: tritonBlocks, per: is("kv_cache_block_type", "max"), how: probes.Difference},
		{of: "kv_cache_tokens", names: tritonBlocks, where: is("kv_cache_block_type", "max"), times: tritonBlocks, per: is("kv_cache_block_type", "tokens_per"), how: probes.Difference},
		{of: "max_num_seqs", names: tritonRequests, where: is("request_type", "max")},

		{of: "prompt_tokens_total", names: []string{"nv_llm_input_token_len_sum"}},
		{of: "generation_tokens_total", names: []string{"nv_llm_output_token_len_sum"}},
		{of: "finished_total", names: []string{"nv_inference_request_success"}, where: theLLM},
		// Since 24.04 by reason: what the client gave up is CANCELED, a full queue REJECTED.
		{of: "failed_total", names: []string{"nv_inference_request_failure"}, where: both(isNot("reason", "REJECTED"), theLLM)},
		{of: "aborted_total", names: []string{"nv_inference_request_failure"}, where: both(is("reason", "CANCELED"), theLLM)},
		{of: "rejected_total", names: []string{"nv_inference_request_failure"}, where: both(is("reason", "REJECTED"), theLLM)},

		// Opt-in; until the first chunk leaves: without streaming that is the whole answer.
		{of: "ttft_seconds", names: []string{"nv_inference_first_response_histogram_ms"}, where: theLLM, scale: 1e-3, how: probes.Estimated},
		{of: "e2e_seconds", names: []string{"nv_inference_request_duration_us"}, count: []string{"nv_inference_request_success"}, where: theLLM, scale: 1e-6},
		{of: "frontend_seconds", names: []string{"nv_inference_request_duration_us"}, count: []string{"nv_inference_request_success"}, where: is("model", "preprocessing"), scale: 1e-6, how: probes.Estimated},
		{of: "queue_seconds", names: []string{"nv_inference_queue_duration_us"}, count: []string{"nv_inference_request_success"}, where: theLLM, scale: 1e-6, how: probes.Estimated},
		{of: "transfer_seconds", names: tritonTransfers, where: is("disaggregated_serving_type", "kv_cache_transfer_ms"), count: tritonTransfers, per: is("disaggregated_serving_type", "request_count"), scale: 1e-3},
		{of: "prompt_length_tokens", names: []string{"nv_llm_input_token_len"}},
		{of: "output_length_tokens", names: []string{"nv_llm_output_token_len"}},
	},
	waits: []waitRow{
		{name: "batcher", names: tritonRequests, where: is("request_type", "waiting")},
		{name: "paused", names: []string{"nv_trt_llm_inflight_batcher_metrics"}, where: is("inflight_batcher_specific_metric", "paused_requests")},
		{names: []string{"nv_inference_pending_request_count"}, by: "model"},
	},
}

var (
	tritonRequests  = []string{"nv_trt_llm_request_metrics"}
	tritonBlocks    = []string{"nv_trt_llm_kv_cache_block_metrics"}
	tritonTransfers = []string{"nv_trt_llm_disaggregated_serving_metrics"}
)

// theLLM is the model of an ensemble that makes the tokens.
var theLLM = where{
	{labels: []string{"model"}, values: []string{"tensorrt_llm"}, prefer: true},
	{labels: []string{"model"}, values: []string{"ensemble", "tensorrt_llm_bls", "preprocessing", "postprocessing"}, not: true, prefer: true},
}
