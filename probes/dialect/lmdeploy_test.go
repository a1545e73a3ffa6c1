package dialect

import "testing"

func TestLMDeploy(t *testing.T) {
	expect(t, []expectation{
		{"lmdeploy-0.16", "6 for a handle, 4 in the engine", "waiting", "10 exact"},
		{"lmdeploy-0.16", "by queue", "waits", "[{server 6} {engine 4}]"},
		{"lmdeploy-0.16", "with TurboMind cached prefixes are in it", "kv_usage_ratio", "0.9375 estimated"},
		{"lmdeploy-0.16", "python's own", "start_unix_seconds", "1795996400.5 exact"},
		{"lmdeploy-0.16", "FINISH alone", "finished_total", "398 exact"},
		{"lmdeploy-0.16", "a gauge that only grows, with those that yielded nothing", "failed_total", "12 exact"},
		{"lmdeploy-0.16", "CANCEL", "aborted_total", "5 exact"},
		{"lmdeploy-0.16", "live", "tokens at finish", "false"},
		{"lmdeploy-0.16", "prompts of requests that ended: 400 of 1000", "prefix_queries_total", "400000 exact"},
		{"lmdeploy-0.16", "found", "prefix_hits_total", "75000 exact"},
		{"lmdeploy-0.16", "the gauge of all time is not needed", "prefix_hit_ratio", "not exposed"},
		{"lmdeploy-0.16", "one value a step", "tpot_seconds", "count 40600 sum 1268.75 estimated"},
		{"lmdeploy-0.16", "seconds, though its name does not say so", "step_seconds", "count 40600 sum 2537.5 exact"},
		{"lmdeploy-0.16", "requests' parts are no steps of the engine", "step_tokens", "not exposed"},
		{"lmdeploy-0.16", "drafts", "spec_drafts_total", "30000 exact"},
		{"lmdeploy-0.16", "accepted, not by position", "spec_accepted_tokens_total", "45000 exact"},
		{"lmdeploy-0.16", "decode", "decode_seconds", "count 400 sum 2900 exact"},
		{"lmdeploy-0.16", "not told", "kv_cache_tokens", "not exposed"},

		{"lmdeploy-0.10", "26 unfinished less 16 running", "waiting", "10 difference"},
		{"lmdeploy-0.10", "only the engine's queue is told", "waits", "[{engine 4}]"},
		{"lmdeploy-0.10", "errors and CANCEL, not FINISH or SUCCESS", "failed_total", "8 exact"},
		{"lmdeploy-0.10", "not told yet", "step_seconds", "not exposed"},
		{"lmdeploy-0.10", "not told yet", "prefix_hits_total", "not exposed"},
		{"lmdeploy-0.10", "queries without hits tell nothing", "prefix_queries_total", "not exposed"},
		{"lmdeploy-0.10", "not told yet", "spec_drafts_total", "not exposed"},
	})
}

func TestLMDeploySmallPages(t *testing.T) {
	expectOnPages(t, []struct{ what, page, reading, want string }{
		{"0.12 tells both queues but no failures", "# TYPE lmdeploy:num_api_requests_waiting gauge\nlmdeploy:num_api_requests_waiting 3\n# TYPE lmdeploy:num_requests_waiting gauge\nlmdeploy:num_requests_waiting 4\n# TYPE lmdeploy:num_requests_completed gauge\nlmdeploy:num_requests_completed 9\n", "waiting", "7 exact"},
		{"and has no gauge of failures", "# TYPE lmdeploy:num_requests_completed gauge\nlmdeploy:num_requests_completed 9\n", "failed_total", "not exposed"},
		{"the engine may be ahead of the server", "# TYPE lmdeploy:num_requests_unfinished gauge\nlmdeploy:num_requests_unfinished 3\n# TYPE lmdeploy:num_requests_running gauge\nlmdeploy:num_requests_running 4\n", "waiting", "0 difference"},
		{"unfinished alone is not waiting", "# TYPE lmdeploy:num_requests_unfinished gauge\nlmdeploy:num_requests_unfinished 3\n", "waiting", "not exposed"},
		{"a gauge of hits", "# TYPE lmdeploy:prefix_cache_hit_rate gauge\nlmdeploy:prefix_cache_hit_rate 0.5\n", "prefix_hit_ratio", "0.5 estimated"},
	})
}

func TestLMDeploySamples(t *testing.T) {
	pages := samples(t, "lmdeploy-*.prom")
	expectSample(t, pages, "lmdeploy-0.16.0-loaded.prom", map[string]string{
		"model":                   "Qwen/Qwen2.5-7B-Instruct",
		"running":                 "16 exact",
		"waiting":                 "16 exact",
		"kv_usage_ratio":          "0.8731 estimated",
		"finished_total":          "41 exact",
		"failed_total":            "2 exact",
		"aborted_total":           "0 exact",
		"prompt_tokens_total":     "39896 exact",
		"generation_tokens_total": "6337 exact",
		"prefix_queries_total":    "39896 exact",
		"prefix_hits_total":       "7963 exact",
		"ttft_seconds":            "count 41 sum 63.3690417065 exact",
		"step_seconds":            "count 6296 sum 150.770064039 exact",
		"queue_seconds":           "count 41 sum 50.9699109026 exact",
		"decode_seconds":          "count 41 sum 147.136268744 exact",
		"step_tokens":             "not exposed",
	})
}
