package dialect

import "testing"

func TestDynamo(t *testing.T) {
	for _, page := range []string{"dynamo-frontend-0", "dynamo-frontend-1"} {
		expect(t, []expectation{
			{page, "it passes requests on", "role", "frontend"},
			{page, "lower case where requests are told of", "model", "Acme/Llama-70B"},
			{page, "50 in the house less 12 before their first token", "running", "38 difference"},
			{page, "until the first token, prefill included", "waiting", "12 estimated"},
			{page, "a worker's, not the frontend's", "max_num_seqs", "not exposed"},
			{page, "live", "generation_tokens_total", "196000 exact"},
			{page, "1000 prompts of 1024", "prompt_tokens_total", "1024000 exact"},
			{page, "success", "finished_total", "980 exact"},
			{page, "as clients see it", "ttft_seconds", "count 1000 sum 750 exact"},
			{page, "one value a token", "tpot_seconds", "count 190000 sum 5937.5 exact"},
			{page, "as clients see it", "e2e_seconds", "count 980 sum 7350 exact"},
			{page, "no cache of its own", "kv_usage_ratio", "not exposed"},
		})
	}
	expect(t, []expectation{
		{"dynamo-frontend-0", "all errors in one", "failed_total", "19 exact"},
		{"dynamo-frontend-0", "a gauge that only grows", "aborted_total", "17 estimated"},
		{"dynamo-frontend-0", "not told apart", "rejected_total", "not exposed"},
		{"dynamo-frontend-0", "not told yet", "frontend_seconds", "not exposed"},
		{"dynamo-frontend-1", "internal and cancelled; overload and what clients got wrong are not", "failed_total", "19 exact"},
		{"dynamo-frontend-1", "cancelled", "aborted_total", "15 exact"},
		{"dynamo-frontend-1", "overload", "rejected_total", "8 exact"},
		{"dynamo-frontend-1", "by stage; the router's queue is part of one", "waits", "[{dispatch 9} {preprocess 1} {route 2}]"},
		{"dynamo-frontend-1", "preprocessing", "frontend_seconds", "count 1000 sum 7.8125 exact"},
		{"dynamo-frontend-1", "the router's", "queue_seconds", "count 1000 sum 62.5 estimated"},
		{"dynamo-frontend-1", "950 answers with 256", "prefix_hits_total", "243200 estimated"},

		{"dynamo-worker-0", "in the house, by the endpoint that serves", "running", "22 estimated"},
		{"dynamo-worker-0", "a ratio, though it is called percent", "kv_usage_ratio", "0.625 exact"},
		{"dynamo-worker-0", "its old name", "prefix_hit_ratio", "0.25 estimated"},
		{"dynamo-worker-0", "blocks come without their size", "kv_cache_tokens", "not exposed"},
		{"dynamo-worker-0", "processed, by the endpoint that serves", "finished_total", "914 estimated"},
		{"dynamo-worker-0", "both kinds", "failed_total", "14 exact"},
		{"dynamo-worker-0", "the stream could not be written on", "aborted_total", "11 estimated"},
		{"dynamo-worker-0", "decode, or all of it", "role", ""},
		{"dynamo-worker-1", "its component", "role", "prefill"},
		{"dynamo-worker-1", "the fuller rank", "kv_usage_ratio", "0.75 exact"},
		{"dynamo-worker-1", "one rank", "0|kv_usage_ratio", "0.5 exact"},
		{"dynamo-worker-1", "an opened stream is no first token", "ttft_seconds", "not exposed"},

		{"dynamo-sglang", "the engine's own families come first", "dialect", "sglang"},
		{"dynamo-sglang", "its batch, not what is in the house", "running", "18 exact"},
		{"dynamo-sglang", "its cache", "kv_usage_ratio", "0.6875 exact"},
		{"dynamo-sglang", "ranks of the families around it are not the engine's", "parts", "0"},
	})
}

func TestDynamoSmallPages(t *testing.T) {
	const fe = "# TYPE dynamo_frontend_"
	expectOnPages(t, []struct{ what, page, reading, want string }{
		{"before the first request", fe + "disconnected_clients gauge\ndynamo_frontend_disconnected_clients 0\n", "role", "frontend"},
		{"no request is not 0 requests", fe + "disconnected_clients gauge\ndynamo_frontend_disconnected_clients 0\n", "running", "not exposed"},
		{"a newer one's clients are counted otherwise", fe + "disconnected_clients gauge\ndynamo_frontend_disconnected_clients 9\n" + fe + "active_requests gauge\ndynamo_frontend_active_requests 1\n", "aborted_total", "not exposed"},
		{"cancelled without types of errors", fe + "model_cancellation_total counter\ndynamo_frontend_model_cancellation_total 4\n", "aborted_total", "4 exact"},
		{"rejected without types of errors", fe + "model_rejection_total counter\ndynamo_frontend_model_rejection_total 4\n", "rejected_total", "4 exact"},
		{"tokenizing, in milliseconds", fe + "tokenizer_latency_ms histogram\ndynamo_frontend_tokenizer_latency_ms_bucket{operation=\"tokenize\",le=\"+Inf\"} 4\ndynamo_frontend_tokenizer_latency_ms_sum{operation=\"tokenize\"} 20\ndynamo_frontend_tokenizer_latency_ms_count{operation=\"tokenize\"} 4\ndynamo_frontend_tokenizer_latency_ms_bucket{operation=\"detokenize\",le=\"+Inf\"} 4\ndynamo_frontend_tokenizer_latency_ms_sum{operation=\"detokenize\"} 90\ndynamo_frontend_tokenizer_latency_ms_count{operation=\"detokenize\"} 4\n", "frontend_seconds", "count 4 sum 0.02 estimated"},
		{"waiting for the tokenizer and tokenizing", fe + "tokenize_encode_ms histogram\ndynamo_frontend_tokenize_encode_ms_bucket{le=\"+Inf\"} 4\ndynamo_frontend_tokenize_encode_ms_sum 20\ndynamo_frontend_tokenize_encode_ms_count 4\n" + fe + "request_preprocess_wait_ms histogram\ndynamo_frontend_request_preprocess_wait_ms_bucket{le=\"+Inf\"} 4\ndynamo_frontend_request_preprocess_wait_ms_sum 30\ndynamo_frontend_request_preprocess_wait_ms_count 4\n", "frontend_seconds", "count 4 sum 0.05 difference"},
		{"scheduling, in milliseconds", fe + "schedule_ms histogram\ndynamo_frontend_schedule_ms_bucket{le=\"+Inf\"} 4\ndynamo_frontend_schedule_ms_sum 30\ndynamo_frontend_schedule_ms_count 4\n", "queue_seconds", "count 4 sum 0.03 estimated"},
		{"the router's queue, where stages are not told", fe + "router_queue_pending_requests gauge\ndynamo_frontend_router_queue_pending_requests{worker_type=\"prefill\"} 2\ndynamo_frontend_router_queue_pending_requests{worker_type=\"decode\"} 3\n", "waits", "[{router 5}]"},
		{"a frontend's page with families of its runtime", "# TYPE dynamo_component_uptime_seconds gauge\ndynamo_component_uptime_seconds 4\n" + fe + "queued_requests gauge\ndynamo_frontend_queued_requests 2\n", "role", "frontend"},
		{"two models", fe + "queued_requests gauge\ndynamo_frontend_queued_requests{model=\"a\"} 2\ndynamo_frontend_queued_requests{model=\"b\"} 3\ndynamo_frontend_queued_requests{model=\"A\"} 0\n", "model", "A +1"},
		{"no admin endpoint", "# TYPE dynamo_component_requests_total counter\ndynamo_component_requests_total{dynamo_endpoint=\"clear_kv_blocks\"} 4\n", "finished_total", "not exposed"},
	})
}

func TestDynamoSamples(t *testing.T) {
	pages := samples(t, "dynamo-*.prom")
	expectSample(t, pages, "dynamo-frontend-2026-01.prom", map[string]string{
		"model":                   "Qwen/Qwen3-0.6B",
		"role":                    "frontend",
		"running":                 "0 difference",
		"waiting":                 "0 estimated",
		"prompt_tokens_total":     "33 exact",
		"generation_tokens_total": "300 exact",
		"finished_total":          "1 exact",
		"failed_total":            "not exposed",
		"ttft_seconds":            "count 1 sum 1.562570157 exact",
		"tpot_seconds":            "count 299 sum 0.612691729 exact",
		"e2e_seconds":             "count 1 sum 2.177646729 exact",
		"max_num_seqs":            "not exposed",
	})
}
