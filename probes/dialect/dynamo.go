package dialect

import "llmtop/probes"

// dynamoFrontend is the vocabulary of Dynamo's HTTP frontend, which takes requests and
// passes them to workers: latencies are those of the client, queues are what is between
// the client and the first token, prefill included. Families show up with the first
// request. The model is lower-cased where requests are told of, not where it is set up.
//
// What it does not tell: a batch, a cache. Its model_* gauges (max_num_seqs, KV blocks) are
// those of the first worker and no limit of the frontend. Its gauges worker_last_* are
// of one request.
var dynamoFrontend = table{
	name: "dynamo", prefix: "dynamo_frontend_",
	model: []string{"model"},
	role:  probes.Frontend,
	rows: []row{
		// Those with a first token: active_requests counts all, from the first byte to the last.
		{of: "running", names: []string{"dynamo_frontend_active_requests", "dynamo_frontend_inflight_requests"}, less: dynamoQueues, how: probes.Difference},
		{of: "waiting", names: dynamoQueues, how: probes.Estimated},
		{of: "prompt_tokens_total", names: []string{"dynamo_frontend_input_sequence_tokens_sum"}}, // with the first token
		{of: "generation_tokens_total", names: []string{"dynamo_frontend_output_tokens"}},
		{of: "prefix_queries_total", names: []string{"dynamo_frontend_input_sequence_tokens_sum"}, needs: []string{"dynamo_frontend_cached_tokens"}, how: probes.Estimated},
		{of: "prefix_hits_total", names: []string{"dynamo_frontend_cached_tokens_sum"}, how: probes.Estimated}, // where the engine reports them
		{of: "finished_total", names: dynamoRequests, where: is("status", "success")},
		// A client's mistake is no failure; older releases do not tell them apart.
		{of: "failed_total", names: dynamoRequests, where: both(is("status", "error"), isNot("error_type", "overload", "validation", "not_found", "not_implemented"))},
		{of: "aborted_total", names: dynamoRequests, where: is("error_type", "cancelled")},
		{of: "aborted_total", names: []string{"dynamo_frontend_model_cancellation"}},
		// A gauge that only grows.
		{of: "aborted_total", names: []string{"dynamo_frontend_disconnected_clients"}, types: gauges, lacks: []string{"dynamo_frontend_active_requests"}, how: probes.Estimated},
		{of: "rejected_total", names: dynamoRequests, where: is("error_type", "overload")},
		{of: "rejected_total", names: []string{"dynamo_frontend_model_rejection"}},

		{of: "ttft_seconds", names: []string{"dynamo_frontend_time_to_first_token_seconds"}},
		{of: "tpot_seconds", names: []string{"dynamo_frontend_inter_token_latency_seconds"}}, // one value a token
		{of: "e2e_seconds", names: []string{"dynamo_frontend_request_duration_seconds"}},
		{of: "frontend_seconds", names: []string{"dynamo_frontend_stage_duration_seconds"}, where: is("stage", "preprocess")},
		{of: "frontend_seconds", names: []string{"dynamo_frontend_tokenize_encode_ms_sum"}, plus: []string{"dynamo_frontend_request_preprocess_wait_ms_sum"},
			count: []string{"dynamo_frontend_tokenize_encode_ms_count"}, scale: 1e-3, how: probes.Difference},
		{of: "frontend_seconds", names: []string{"dynamo_frontend_tokenizer_latency_ms"}, where: is("operation", "tokenize"), scale: 1e-3, how: probes.Estimated},
		// The router's queue, before the engine's own.
		{of: "queue_seconds", names: []string{"dynamo_frontend_stage_duration_seconds"}, where: is("stage", "route"), how: probes.Estimated},
		{of: "queue_seconds", names: []string{"dynamo_frontend_schedule_ms"}, scale: 1e-3, how: probes.Estimated},
		{of: "prompt_length_tokens", names: []string{"dynamo_frontend_input_sequence_tokens"}},
		{of: "output_length_tokens", names: []string{"dynamo_frontend_output_sequence_tokens"}},
	},
	waits: []waitRow{
		{names: []string{"dynamo_frontend_stage_requests"}, by: "stage"},
		{name: "router", names: []string{"dynamo_frontend_router_queue_pending_requests"}, lacks: []string{"dynamo_frontend_stage_requests"}}, // part of the stage route
	},
}

var (
	dynamoQueues   = []string{"dynamo_frontend_stage_requests", "dynamo_frontend_queued_requests"}
	dynamoRequests = []string{"dynamo_frontend_requests"}
)

// dynamoWorker is what Dynamo's runtime tells of a worker whose engine tells nothing
// itself; where it does, the engine's own table is taken. Only the endpoint generate
// serves requests. A worker that decodes is called backend, as one that does all is.
//
// time_to_first_response is until the stream is opened and no time to the first token;
// the number of KV blocks comes without their size.
var dynamoWorker = table{
	name: "dynamo", prefix: "dynamo_component_",
	model:     []string{"model", "model_name"},
	instances: []string{"dp_rank"},
	roleLabel: "dynamo_component",
	roles:     map[string]probes.Role{"prefill": probes.Prefill, "decode": probes.Decode},
	rows: []row{
		{of: "running", names: []string{"dynamo_component_inflight_requests"}, where: generates, how: probes.Estimated}, // those that wait in the engine included
		{of: "kv_usage_ratio", names: []string{"dynamo_component_gpu_cache_usage_percent", "dynamo_component_kvstats_gpu_cache_usage_percent"}},
		{of: "prefix_hit_ratio", how: probes.Estimated, names: []string{"dynamo_component_kv_cache_hit_rate",
			"dynamo_component_gpu_prefix_cache_hit_rate", "dynamo_component_kvstats_gpu_prefix_cache_hit_rate"}},
		{of: "finished_total", names: []string{"dynamo_component_requests"}, where: generates, how: probes.Estimated}, // failed ones included
		{of: "failed_total", names: []string{"dynamo_component_errors"}, where: generates},
		{of: "aborted_total", names: []string{"dynamo_component_errors"}, where: both(generates, is("error_type", "publish_response")), how: probes.Estimated},
		{of: "e2e_seconds", names: []string{"dynamo_component_request_duration_seconds"}, where: generates},
	},
}

var generates = is("dynamo_endpoint", "generate")
