package dialect

import "llmtop/probes"

// llamacpp is the vocabulary of llama.cpp's server. Its page has no labels and no
// histograms, and counts no requests: there is no TTFT, no E2E and no time of a
// request's prefill (seconds spent on prompts are told, not on how many).
//
// Counters are Estimated for a reason: values are printed with six digits (C++'s
// default), so one above 1e6 moves in steps of 10, above 1e7 of 100, and what it gained
// between two scrapes is lost or late. Those of generated tokens move when a request
// ends. Seconds are added up over slots: N busy slots spend N of them a second, so
// seconds over tokens is what one stream sees.
//
// What is left out: prompt_tokens_seconds and predicted_tokens_seconds (since the last
// scrape by anybody in some builds, since the start in others);
// n_busy_slots_per_decode (a mean since the start, typed counter until 2026-05);
// n_tokens_max, before n_past_max (the longest yet, typed counter); n_decode_total,
// which moves with steps while tokens move with requests. The start of the process
// stands in a header, not on the page.
var llamacpp = table{
	name: "llamacpp", prefix: "llamacpp_",
	finishes: true,
	rows: []row{
		{of: "running", names: []string{"llamacpp_requests_processing"}},
		{of: "waiting", names: []string{"llamacpp_requests_deferred"}},
		// Until 2025-05. Tokens are those in the cache; over their share they are what fits.
		{of: "kv_usage_ratio", names: []string{"llamacpp_kv_cache_usage_ratio"}},
		{of: "kv_cache_tokens", names: []string{"llamacpp_kv_cache_tokens"}, over: []string{"llamacpp_kv_cache_usage_ratio"}, how: probes.Estimated},

		// Since then from /slots, which the scrape adds to the page: what busy slots hold over what
		// all can. With a unified cache each slot tells the whole of it.
		{of: "kv_usage_ratio", names: []string{"llamacpp_slot_n_tokens"}, over: []string{"llamacpp_slot_n_ctx"}, how: probes.Estimated},
		{of: "kv_cache_tokens", names: []string{"llamacpp_slot_n_ctx"}, how: probes.Estimated},
		{of: "max_num_seqs", names: []string{"llamacpp_slot_count"}},

		// prompt_tokens leaves out what was cached, also where that is not told.
		{of: "prompt_tokens_total", names: []string{"llamacpp_prompt_tokens"}, plus: llamaCached, how: probes.Estimated},
		{of: "generation_tokens_total", names: []string{"llamacpp_tokens_predicted"}, how: probes.Estimated},
		{of: "prefix_queries_total", names: []string{"llamacpp_prompt_tokens"}, plus: llamaCached, needs: llamaCached, how: probes.Estimated},
		{of: "prefix_hits_total", names: llamaCached, how: probes.Estimated},
		{of: "prompt_computed_tokens_total", names: []string{"llamacpp_prompt_tokens"}, how: probes.Estimated},
		{of: "prompt_cached_tokens_total", names: llamaCached, how: probes.Estimated},
		{of: "spec_drafts_total", names: []string{"llamacpp_spec_decode_num_drafts"}, how: probes.Estimated},
		{of: "spec_draft_tokens_total", names: []string{"llamacpp_spec_decode_num_draft_tokens"}, how: probes.Estimated},
		{of: "spec_accepted_tokens_total", names: []string{"llamacpp_spec_decode_num_accepted_tokens"}, how: probes.Estimated},

		{of: "tpot_seconds", names: []string{"llamacpp_tokens_predicted_seconds"}, count: []string{"llamacpp_tokens_predicted"}, how: probes.Estimated},
	},
	waits: []waitRow{{name: "deferred", names: []string{"llamacpp_requests_deferred"}}},
}

var llamaCached = []string{"llamacpp_prompt_tokens_cached"}
