package dialect

import "testing"

func TestTGI(t *testing.T) {
	for _, page := range []string{"tgi-3", "tgi-1"} {
		expect(t, []expectation{
			{page, "the queue", "waiting", "5 exact"},
			{page, "the batch", "running", "10 exact"},
			{page, "no label says it", "model", ""},
			{page, "no first token, and none is made up", "ttft_seconds", "not exposed"},
			{page, "a budget is no cache", "kv_usage_ratio", "not exposed"},
			{page, "no label tells hits", "prefix_hits_total", "not exposed"},
			{page, "a histogram's sum: 980 prompts of 768", "prompt_tokens_total", "752640 estimated"},
			{page, "a histogram's sum: 940 answers of 100", "generation_tokens_total", "94000 exact"},
			{page, "when requests end", "tokens at finish", "true"},
			{page, "success", "finished_total", "940 exact"},
			{page, "generation, incomplete and dropped; what clients got wrong is none", "failed_total", "14 exact"},
			{page, "dropped", "aborted_total", "11 exact"},
			{page, "overloaded", "rejected_total", "31 exact"},
			{page, "all of it, queue included", "e2e_seconds", "count 940 sum 3290 exact"},
			{page, "validation and tokenizing", "frontend_seconds", "count 940 sum 14.6875 exact"},
			{page, "by request", "queue_seconds", "count 940 sum 235 exact"},
			{page, "by batch", "prefill_seconds", "count 600 sum 75 estimated"},
			{page, "decode's calls", "step_seconds", "count 48000 sum 1500 estimated"},
			{page, "prefill is in it", "tpot_seconds", "count 940 sum 29.375 estimated"},
			{page, "not told apart from prefill", "decode_seconds", "not exposed"},
			{page, "validated prompts", "prompt_length_tokens", "count 980 sum 752640 exact"},
			{page, "answers", "output_length_tokens", "count 940 sum 94000 exact"},
			{page, "not counted", "preemptions_total", "not exposed"},
			{page, "each step of each request is no draft", "spec_drafts_total", "not exposed"},
		})
	}
	expect(t, []expectation{
		{"tgi-3", "the budget of a batch", "kv_cache_tokens", "65536 estimated"},
		{"tgi-3", "a summary's sum", "spec_accepted_tokens_total", "60000 exact"},
		{"tgi-1", "not told yet", "kv_cache_tokens", "not exposed"},
		{"tgi-1", "not told yet", "spec_accepted_tokens_total", "not exposed"},
	})
	e := Decode(load(t, expositions+"/tgi-3.prom"))
	if n := len(e.E2E.Bounds); n != 35 || e.E2E.Bounds[34] < 145 || e.E2E.Bounds[34] > 146 {
		t.Errorf("%d bounds of E2E: %v", n, e.E2E.Bounds)
	}
}

func TestTGISmallPages(t *testing.T) {
	expectOnPages(t, []struct{ what, page, reading, want string }{
		{"no failure seen is not 0", "# TYPE tgi_request_failure counter\ntgi_request_failure{err=\"validation\"} 4\n", "failed_total", "not exposed"},
		{"without TYPE lines a count is no histogram's", "tgi_request_success 4\ntgi_request_count 5\n", "finished_total", "4 exact"},
		{"a summary is no histogram", "# TYPE tgi_request_duration summary\ntgi_request_duration{quantile=\"0.5\"} 4\ntgi_request_duration_sum 8\ntgi_request_duration_count 2\n", "e2e_seconds", "not exposed"},
		{"a summary's sum is one", "# TYPE tgi_request_generated_tokens summary\ntgi_request_generated_tokens{quantile=\"0.5\"} 4\ntgi_request_generated_tokens_sum 8\ntgi_request_generated_tokens_count 2\n", "generation_tokens_total", "8 exact"},
	})
}

func TestTGISamples(t *testing.T) {
	pages := samples(t, "tgi-*.prom")
	expectSample(t, pages, "tgi-3.x-SYNTHESIZED-saturated.prom", map[string]string{
		"running":                    "16 exact",
		"waiting":                    "37 exact",
		"finished_total":             "200 exact",
		"failed_total":               "not exposed",
		"rejected_total":             "19 exact",
		"kv_cache_tokens":            "65536 estimated",
		"generation_tokens_total":    "44144 exact",
		"e2e_seconds":                "count 200 sum 1527.80218204 exact",
		"queue_seconds":              "count 200 sum 295.208893289 exact",
		"frontend_seconds":           "count 200 sum 0.688670385851 exact",
		"prefill_seconds":            "count 121 sum 34.9319308951 estimated",
		"step_seconds":               "not exposed",
		"ttft_seconds":               "not exposed",
		"spec_accepted_tokens_total": "8123 exact",
	})
}
