package dialect

import (
	"strings"
	"testing"
)

func TestLlamaCPP(t *testing.T) {
	e := checkPage(t, "llamacpp-b4600", "llamacpp", []wanted{
		{"slots at work", "running", "4", exact},
		{"deferred", "waiting", "3", exact},
		{"told until 2025-05", "kv_usage_ratio", "0.625", exact},
		{"10240 tokens are 62.5 % of it", "kv_cache_tokens", "16384", estimated},
		{"512 s of slots for 20480 tokens: 25 ms a stream", "tpot_seconds", "20480/512!", estimated},
		{"six digits, so an estimate", "prompt_tokens_total", "51200", estimated},
		{"the gauges of throughput are of nobody knows which span", "tokens_per_second", "-", untold},
		{"requests are not counted: seconds of prompts are nobody's", "prefill_seconds", "-", untold},
		{"nor first tokens", "ttft_seconds", "-", untold},
		{"nor ends", "finished_total", "-", untold},
		{"the cache is not told of", "prefix_hits_total", "-", untold},
	})
	if !e.AtFinish || e.Model != "" || waits(e) != "deferred 3" {
		t.Errorf("at finish %v, model %q, waits %s", e.AtFinish, e.Model, waits(e))
	}
	checkPage(t, "llamacpp-b6700", "llamacpp", []wanted{
		{"no longer told", "kv_usage_ratio", "-", untold},
		{"nor this", "kv_cache_tokens", "-", untold},
		{"2.34568e+06: the last digits are gone", "prompt_tokens_total", "2345680", estimated},
		{"nobody waits, and that is told", "waiting", "0", exact},
		{"the longest yet is no rate, the mean of slots no counter", "step_tokens", "-", untold},
	})
	checkPage(t, "llamacpp-b10500", "llamacpp", []wanted{
		{"30000 computed and 10000 cached", "prompt_tokens_total", "40000", estimated},
		{"without the cached", "prompt_computed_tokens_total", "30000", estimated},
		{"cached", "prompt_cached_tokens_total", "10000", estimated},
		{"looked up: all", "prefix_queries_total", "40000", estimated},
		{"found", "prefix_hits_total", "10000", estimated},
		{"positions are not added again", "spec_accepted_tokens_total", "9000", estimated},
		{"of", "spec_draft_tokens_total", "12000", estimated},
		{"in", "spec_drafts_total", "4000", estimated},
		{"3200 slot-seconds a thousand: 20 ms", "tpot_seconds", "16000/320!", estimated},
	})
}

func TestLlamaCPPSmallPages(t *testing.T) {
	const idle = "# TYPE llamacpp:kv_cache_usage_ratio gauge\nllamacpp:kv_cache_usage_ratio R\n# TYPE llamacpp:kv_cache_tokens gauge\nllamacpp:kv_cache_tokens 0\n"
	check(t, "an empty cache", Decode(parse(strings.Replace(idle, "R", "0", 1))), []wanted{
		{"told", "kv_usage_ratio", "0", exact},
		{"0 tokens are 0 % of anything", "kv_cache_tokens", "-", estimated},
	})
	check(t, "-nan", Decode(parse(strings.Replace(idle, "R", "-nan", 1))), []wanted{
		{"no number", "kv_usage_ratio", "-", exact},
		{"nothing to divide by", "kv_cache_tokens", "-", estimated},
	})
	// Each of these a counter by its TYPE line.
	check(t, "no counters", Decode(parse("# TYPE llamacpp:n_past_max counter\nllamacpp:n_past_max 9\n# TYPE llamacpp:n_tokens_max counter\nllamacpp:n_tokens_max 9\n# TYPE llamacpp:n_busy_slots_per_decode counter\nllamacpp:n_busy_slots_per_decode 1.5\n")), []wanted{
		{"not taken for anything", "generation_tokens_total", "-", untold},
		{"nor this", "running", "-", untold},
		{"nor this", "max_num_seqs", "-", untold},
	})
}

func TestLlamaCPPSamples(t *testing.T) {
	read := 0
	for page, cases := range map[string][]wanted{
		"llamacpp-2025*.prom": {
			{"425 tokens in 30.163 s", "tpot_seconds", "425/30.163!", estimated},
			{"idle", "running", "0", exact},
		},
		"llamacpp-20260515*.prom": {
			{"6718 tokens in 96.679 s", "tpot_seconds", "6718/96.679!", estimated},
			{"processed", "prompt_tokens_total", "1781", estimated},
			{"cached not told", "prompt_cached_tokens_total", "-", untold},
		},
		"llamacpp-20260816*.prom": {
			{"fresh", "prompt_tokens_total", "0", estimated},
			{"told from the start", "spec_draft_tokens_total", "0", estimated},
			{"nothing spent, nothing made", "tpot_seconds", "0/0!", estimated},
		},
	} {
		if e := sample(t, page); e != nil {
			read++
			check(t, page, e, cases)
		}
	}
	countSamples(t, read, 3)
}

// What the slots say, which the scrape adds to the page, stands for what the page no longer tells.
func TestLlamaCPPSlots(t *testing.T) {
	e := Decode(parse(`# TYPE llamacpp:requests_processing gauge
llamacpp:requests_processing 1
# TYPE llamacpp:slot_count gauge
llamacpp:slot_count 2
# TYPE llamacpp:slot_n_ctx gauge
llamacpp:slot_n_ctx{slot="0"} 4096
llamacpp:slot_n_ctx{slot="1"} 4096
# TYPE llamacpp:slot_n_tokens gauge
llamacpp:slot_n_tokens{slot="0"} 1024
llamacpp:slot_n_tokens{slot="1"} 0
`))
	check(t, "slots", e, []wanted{
		{"used over all", "kv_usage_ratio", "0.125", estimated},
		{"what all slots hold", "kv_cache_tokens", "8192", estimated},
		{"as many as there are slots", "max_num_seqs", "2", exact},
	})
}
