package probes

import "strings"

// EngineReading is a field of Engine as a row of a table: for those that treat all of
// them alike. Exactly one of Number and Histogram is set.
type EngineReading struct {
	Name      string // canonical, unit in it
	Unit      string // count, ratio, tokens, s, 1/s
	Side      Side
	Join      Join
	Number    func(*Engine) *Opt[float64]
	Histogram func(*Engine) **Histogram
}

// Counts reports a counter: a number that only grows while an engine runs.
func (r EngineReading) Counts() bool { return r.Number != nil && strings.HasSuffix(r.Name, "_total") }

// Side says who speaks for a reading where instances with different roles serve a
// request together: adding what each of them tells would count it twice.
type Side uint8

const (
	Scheduler Side = iota // every engine, for its own batch; no frontend
	Client                // who is nearest to the client: a frontend, else the decode instances
	Prompts               // who does prefill
	Tokens                // who does decode
)

// Join is how readings of several engines become one. Histograms are added up.
type Join uint8

const (
	Sum     Join = iota // counts, tokens, requests
	Highest             // the fullest, the worst
	Lowest              // the earliest, the least
)

// EngineReadings lists the readings of an Engine in the order of its fields.
var EngineReadings = []EngineReading{
	{Name: "running", Unit: "count", Side: Scheduler, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.Running }},
	{Name: "waiting", Unit: "count", Side: Scheduler, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.Waiting }},
	{Name: "kv_usage_ratio", Unit: "ratio", Side: Scheduler, Join: Highest, Number: func(e *Engine) *Opt[float64] { return &e.KVUsage }},
	{Name: "kv_cache_tokens", Unit: "tokens", Side: Scheduler, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.KVTokens }},
	{Name: "max_num_seqs", Unit: "count", Side: Scheduler, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.MaxRunning }},
	{Name: "max_num_batched_tokens", Unit: "tokens", Side: Scheduler, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.TokenBudget }},
	{Name: "start_unix_seconds", Unit: "s", Side: Scheduler, Join: Lowest, Number: func(e *Engine) *Opt[float64] { return &e.StartUnixSecs }},
	{Name: "prompt_tokens_total", Unit: "tokens", Side: Prompts, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.PromptTokens }},
	{Name: "generation_tokens_total", Unit: "tokens", Side: Tokens, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.GenerationTokens }},
	{Name: "tokens_per_second", Unit: "1/s", Side: Tokens, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.TokensPerSecond }},
	{Name: "prefix_queries_total", Unit: "tokens", Side: Prompts, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.PrefixQueries }},
	{Name: "prefix_hits_total", Unit: "tokens", Side: Prompts, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.PrefixHits }},
	{Name: "prefix_hit_ratio", Unit: "ratio", Side: Prompts, Join: Lowest, Number: func(e *Engine) *Opt[float64] { return &e.PrefixHitRatio }},
	{Name: "prompt_computed_tokens_total", Unit: "tokens", Side: Prompts, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.PromptComputed }},
	{Name: "prompt_cached_tokens_total", Unit: "tokens", Side: Prompts, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.PromptCached }},
	{Name: "prompt_received_tokens_total", Unit: "tokens", Side: Prompts, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.PromptReceived }},
	{Name: "preemptions_total", Unit: "count", Side: Scheduler, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.Preemptions }},
	{Name: "finished_total", Unit: "count", Side: Client, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.Finished }},
	{Name: "failed_total", Unit: "count", Side: Client, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.Failed }},
	{Name: "aborted_total", Unit: "count", Side: Client, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.Aborted }},
	{Name: "rejected_total", Unit: "count", Side: Client, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.Rejected }},
	{Name: "spec_drafts_total", Unit: "count", Side: Tokens, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.SpecDrafts }},
	{Name: "spec_draft_tokens_total", Unit: "tokens", Side: Tokens, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.SpecDraftTokens }},
	{Name: "spec_accepted_tokens_total", Unit: "tokens", Side: Tokens, Join: Sum, Number: func(e *Engine) *Opt[float64] { return &e.SpecAccepted }},
	{Name: "spec_acceptance_ratio", Unit: "ratio", Side: Tokens, Join: Lowest, Number: func(e *Engine) *Opt[float64] { return &e.SpecAcceptance }},

	{Name: "ttft_seconds", Unit: "s", Side: Client, Histogram: func(e *Engine) **Histogram { return &e.TTFT }},
	{Name: "tpot_seconds", Unit: "s", Side: Tokens, Histogram: func(e *Engine) **Histogram { return &e.TPOT }},
	{Name: "step_seconds", Unit: "s", Side: Tokens, Histogram: func(e *Engine) **Histogram { return &e.StepTime }},
	{Name: "e2e_seconds", Unit: "s", Side: Client, Histogram: func(e *Engine) **Histogram { return &e.E2E }},
	{Name: "frontend_seconds", Unit: "s", Side: Client, Histogram: func(e *Engine) **Histogram { return &e.Frontend }},
	{Name: "queue_seconds", Unit: "s", Side: Prompts, Histogram: func(e *Engine) **Histogram { return &e.Queue }},
	{Name: "prefill_seconds", Unit: "s", Side: Prompts, Histogram: func(e *Engine) **Histogram { return &e.Prefill }},
	{Name: "decode_seconds", Unit: "s", Side: Tokens, Histogram: func(e *Engine) **Histogram { return &e.Decode }},
	{Name: "transfer_seconds", Unit: "s", Side: Tokens, Histogram: func(e *Engine) **Histogram { return &e.Transfer }},
	{Name: "prompt_length_tokens", Unit: "tokens", Side: Client, Histogram: func(e *Engine) **Histogram { return &e.PromptLen }},
	{Name: "output_length_tokens", Unit: "tokens", Side: Client, Histogram: func(e *Engine) **Histogram { return &e.OutputLen }},
	{Name: "step_tokens", Unit: "tokens", Side: Scheduler, Histogram: func(e *Engine) **Histogram { return &e.StepTokens }},
}

// LookupEngineReading returns the reading of that name.
func LookupEngineReading(name string) (EngineReading, bool) {
	for _, r := range EngineReadings {
		if r.Name == name {
			return r, true
		}
	}
	return EngineReading{}, false
}
