package rules

import (
	"strings"

	"llmtop/probes"
)

// engineReading is a number of an engine, and on which side of a request it is told.
type engineReading struct {
	side probes.Side
	of   func(*probes.Engine) probes.Opt[float64]
}

// readingOf is a canonical number by its name.
func readingOf(name string) engineReading {
	r, ok := probes.LookupEngineReading(name)
	if !ok || r.Number == nil {
		panic("no reading " + name) // a name written in this package
	}
	return engineReading{r.Side, func(e *probes.Engine) probes.Opt[float64] { return *r.Number(e) }}
}

func (r engineReading) told(e *probes.Engine) bool { return r.of(e).Seen() }

var (
	generationTokens = readingOf("generation_tokens_total")
	promptTokens     = readingOf("prompt_tokens_total")
	finishedRequests = readingOf("finished_total")
	failedRequests   = readingOf("failed_total")
	rejectedRequests = readingOf("rejected_total")
	preemptions      = readingOf("preemptions_total")
	waitingRequests  = readingOf("waiting")
	runningRequests  = readingOf("running")
	kvUsage          = readingOf("kv_usage_ratio")
	prefixHits       = readingOf("prefix_hits_total")
	prefixQueries    = readingOf("prefix_queries_total")
	prefixHitGauge   = readingOf("prefix_hit_ratio")
	promptComputed   = readingOf("prompt_computed_tokens_total")
	promptCached     = readingOf("prompt_cached_tokens_total")
	promptReceived   = readingOf("prompt_received_tokens_total")
	specDrafts       = readingOf("spec_drafts_total")
	specDraftTokens  = readingOf("spec_draft_tokens_total")
	specAccepted     = readingOf("spec_accepted_tokens_total")
	specAcceptance   = readingOf("spec_acceptance_ratio")
)

// badRequests is aborted, failed and rejected requests; missing when none of them is told.
var badRequests = engineReading{probes.Client, func(e *probes.Engine) probes.Opt[float64] {
	if !e.Failed.Seen() && !e.Rejected.Seen() {
		return missing()
	}
	return probes.Some(e.Failed.Or(0) + e.Rejected.Or(0))
}}

// order says, for each side of a request, which roles are asked first. What a frontend
// and the workers behind it tell overlaps, so only the first of them that tell are heard.
var order = map[probes.Side][][]probes.Role{
	probes.Scheduler: {{probes.Whole, probes.Prefill, probes.Decode}, {probes.Frontend}},
	probes.Client:    {{probes.Frontend}, {probes.Whole, probes.Decode}, {probes.Prefill}},
	probes.Prompts:   {{probes.Whole, probes.Prefill}, {probes.Decode}, {probes.Frontend}},
	probes.Tokens:    {{probes.Whole, probes.Decode}, {probes.Prefill}, {probes.Frontend}},
}

// speakers are the engines whose readings add up to that of all: of each service those
// whose role speaks for that side and of which at least one tells the reading.
func speakers(engines []*probes.Engine, side probes.Side, told func(*probes.Engine) bool) []*probes.Engine {
	if len(engines) < 2 {
		return engines
	}
	var out []*probes.Engine
	for _, service := range services(engines) {
		out = append(out, first(service, order[side], told)...)
	}
	return out
}

func first(service []*probes.Engine, groups [][]probes.Role, told func(*probes.Engine) bool) []*probes.Engine {
	for _, roles := range groups {
		var these []*probes.Engine
		tells := false
		for _, e := range service {
			if hasRole(roles, e.Role) {
				these = append(these, e)
				tells = tells || told(e)
			}
		}
		if tells {
			return these
		}
	}
	return nil
}

func hasRole(roles []probes.Role, role probes.Role) bool {
	for _, r := range roles {
		if r == role {
			return true
		}
	}
	return false
}

// services parts engines by model: those of one model serve the same requests. A
// frontend may write the model's name in lower case. Who names no model belongs to
// the only service there is, else to none but its own.
func services(engines []*probes.Engine) [][]*probes.Engine {
	index := map[string]int{}
	var out [][]*probes.Engine
	var unnamed []*probes.Engine
	for _, e := range engines {
		model := strings.ToLower(e.Model)
		if model == "" {
			unnamed = append(unnamed, e)
			continue
		}
		i, known := index[model]
		if !known {
			i = len(out)
			index[model] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], e)
	}
	switch {
	case len(unnamed) == 0:
	case len(out) == 1:
		out[0] = append(out[0], unnamed...)
	default:
		out = append(out, unnamed)
	}
	return out
}
