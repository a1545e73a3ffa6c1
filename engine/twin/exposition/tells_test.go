package exposition

import "llmtop/probes"

// tells is what a page tells of one reading: the truth's number or values of that name, or
// a number that is worked out.
type tells struct {
	how    probes.Origin
	truth  string
	number func(*life) float64
	bare   bool // a histogram without bounds
	count  string
}

func exactly(truth string) tells         { return tells{how: probes.Exact, truth: truth} }
func nearly(truth string) tells          { return tells{how: probes.Estimated, truth: truth} }
func apart(truth string) tells           { return tells{how: probes.Difference, truth: truth} }
func (t tells) without() tells           { t.bare = true; return t }
func (t tells) as(o probes.Origin) tells { t.how = o; return t }

func worked(f func(*life) float64) tells { return tells{how: probes.Exact, number: f} }

func sum(names ...string) tells {
	return worked(func(l *life) (total float64) {
		for _, n := range names {
			total += l.numbers[n]
		}
		return total
	})
}

func gaugeOf(state func(*life) *State, number func(*State) int) tells {
	return worked(func(l *life) float64 { return float64(number(state(l))) })
}

func liveState(l *life) *State    { return &l.state }
func steppedState(l *life) *State { return &l.stepped }
func loggedState(l *life) *State  { return &l.logged }

func usedOf(state func(*life) *State) tells {
	return worked(func(l *life) float64 { return float64(state(l).Used) / float64(l.info.Blocks) })
}

var (
	capacityTokens = worked(func(l *life) float64 { return float64(l.info.Blocks * l.info.BlockSize) })
	startTime      = worked(func(l *life) float64 { return unix(l.info.Started) })
	seats          = worked(func(l *life) float64 { return float64(l.info.MaxNumSeqs) })
	budget         = worked(func(l *life) float64 { return float64(l.info.TokenBudget) })
)

// tell is what each personality can tell, and as what. What is not in it it cannot.
var tell = map[string]map[string]tells{
	"llmtop": {
		"running": gaugeOf(liveState, running), "waiting": gaugeOf(liveState, waiting), "kv_usage_ratio": usedOf(liveState),
		"kv_cache_tokens": capacityTokens, "max_num_seqs": seats, "max_num_batched_tokens": budget, "start_unix_seconds": startTime,
		"prompt_tokens_total": exactly("prompt"), "generation_tokens_total": exactly("generated"),
		"prefix_queries_total": apart("prompt"), "prefix_hits_total": exactly("cached"), "prompt_computed_tokens_total": exactly("computed"),
		"prompt_cached_tokens_total": exactly("cached"), "prompt_received_tokens_total": exactly("received"), "preemptions_total": exactly("preempted"),
		"finished_total": exactly("answered"), "failed_total": sum("abort", "error"), "aborted_total": exactly("abort"), "rejected_total": exactly("rejected"),
		"spec_drafts_total": exactly("drafts"), "spec_draft_tokens_total": exactly("drafted"), "spec_accepted_tokens_total": exactly("accepted"),
		"ttft_seconds": exactly("ttft"), "tpot_seconds": exactly("tpot"), "step_seconds": exactly("gaps"), "e2e_seconds": exactly("e2e"),
		"frontend_seconds": exactly("frontend").without(), "queue_seconds": exactly("queue"), "prefill_seconds": exactly("prefill"), "decode_seconds": exactly("decode"),
		"prompt_length_tokens": exactly("prompt"), "output_length_tokens": exactly("output"), "step_tokens": exactly("step tokens"),
	},
	"vllm": {
		"running": gaugeOf(steppedState, running), "waiting": gaugeOf(steppedState, waiting), "kv_usage_ratio": usedOf(steppedState),
		"kv_cache_tokens": capacityTokens, "start_unix_seconds": startTime,
		"prompt_tokens_total": exactly("prompt"), "generation_tokens_total": exactly("generated"),
		"prefix_queries_total": apart("prompt"), "prefix_hits_total": exactly("cached"), "prompt_computed_tokens_total": exactly("computed"),
		"prompt_cached_tokens_total": exactly("cached"), "prompt_received_tokens_total": exactly("received"), "preemptions_total": exactly("preempted"),
		"finished_total": exactly("answered"), "failed_total": sum("abort", "error"), "aborted_total": exactly("abort"), "rejected_total": exactly("rejected"),
		"spec_drafts_total": exactly("drafts"), "spec_draft_tokens_total": exactly("drafted"), "spec_accepted_tokens_total": exactly("accepted"),
		"ttft_seconds": exactly("handler ttft"), "tpot_seconds": exactly("tpot"), "step_seconds": exactly("gaps"), "e2e_seconds": exactly("handler e2e"),
		"frontend_seconds": apart("handler frontend").without(), "queue_seconds": exactly("queue"), "prefill_seconds": exactly("prefill"), "decode_seconds": exactly("decode"),
		"transfer_seconds":     exactly("transfer"),
		"prompt_length_tokens": exactly("prompt"), "output_length_tokens": exactly("output"), "step_tokens": exactly("told step tokens"),
	},
	"sglang": {
		"running": gaugeOf(loggedState, running), "waiting": gaugeOf(loggedState, waiting), "kv_usage_ratio": usedOf(loggedState),
		"kv_cache_tokens":     capacityTokens,
		"prompt_tokens_total": sum("prefilled", "hits"), "generation_tokens_total": nearly("logged decoded"), "tokens_per_second": nearly(""),
		"prefix_queries_total": sum("prefilled", "hits"), "prefix_hits_total": exactly("hits"), "prompt_computed_tokens_total": exactly("prefilled"),
		"prompt_cached_tokens_total": exactly("hits"), "preemptions_total": exactly("preempted"),
		"finished_total": nearly("processed"), "failed_total": sum("abort", "error"), "aborted_total": sum("abort", "error"),
		"spec_drafts_total": exactly("drafts"), "spec_acceptance_ratio": nearly(""),
		"ttft_seconds": exactly("streamed ttft"), "tpot_seconds": exactly("token gaps"), "step_seconds": nearly("gaps"), "e2e_seconds": exactly("processed e2e"),
		"queue_seconds": exactly("admitted queue"), "prefill_seconds": exactly("first prefill"), "transfer_seconds": exactly("transfer"),
		"prompt_length_tokens": exactly("processed prompt"), "output_length_tokens": exactly("processed output"),
	},
	"tgi": {
		"running": gaugeOf(steppedState, running), "waiting": worked(func(l *life) float64 { return float64(l.tgiQueue) }), "kv_cache_tokens": capacityTokens.as(probes.Estimated),
		"prompt_tokens_total": nearly("queued prompt"), "generation_tokens_total": exactly("answered output"),
		"finished_total": exactly("answered"), "failed_total": sum("abort", "error"), "aborted_total": exactly("abort"), "rejected_total": exactly("rejected"),
		"spec_accepted_tokens_total": exactly("accepted"),
		"tpot_seconds":               nearly("inference a token"), "step_seconds": nearly("decode calls"), "e2e_seconds": exactly("text e2e"), "frontend_seconds": exactly("handler frontend"),
		"queue_seconds": exactly("queue"), "prefill_seconds": nearly("prefill calls"), "prompt_length_tokens": exactly("queued prompt"), "output_length_tokens": exactly("output"),
	},
	"llamacpp": {
		"running": gaugeOf(liveState, running), "waiting": gaugeOf(liveState, waiting),
		"prompt_tokens_total": nearly("prompt"), "generation_tokens_total": nearly("answered output"), "prefix_queries_total": nearly("prompt"),
		"prefix_hits_total": sum("cached", "received").as(probes.Estimated), "prompt_computed_tokens_total": nearly("computed"),
		"prompt_cached_tokens_total": sum("cached", "received").as(probes.Estimated),
		"spec_drafts_total":          nearly("drafts"), "spec_draft_tokens_total": nearly("drafted"), "spec_accepted_tokens_total": nearly("accepted"),
		"tpot_seconds": {how: probes.Estimated, truth: "decode", bare: true, count: "answered output"},
	},
	"trtllm": {
		"running": gaugeOf(steppedState, running), "waiting": gaugeOf(steppedState, waiting), "kv_usage_ratio": usedOf(steppedState),
		"kv_cache_tokens": capacityTokens.as(probes.Difference), "max_num_seqs": seats, "max_num_batched_tokens": budget,
		"prompt_tokens_total": exactly("answered prompt"), "generation_tokens_total": exactly("answered output"),
		"prefix_queries_total": apart("answered prompt"), "prefix_hits_total": exactly("answered cached"), "prompt_cached_tokens_total": exactly("answered cached"),
		"finished_total": exactly("answered"), "failed_total": sum("abort", "error"), "aborted_total": exactly("abort"), "rejected_total": exactly("rejected"),
		"spec_draft_tokens_total": exactly("drafted"), "spec_accepted_tokens_total": exactly("accepted"),
		"ttft_seconds": exactly("answered ttft"), "tpot_seconds": exactly("tpot"), "e2e_seconds": exactly("handler e2e"),
		"queue_seconds": exactly("queue"), "prefill_seconds": exactly("prefill"), "decode_seconds": exactly("decode"),
	},
}
