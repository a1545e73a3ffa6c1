package probes

import "time"

// Engine is the canonical view of one engine endpoint, computed from a Scrape by
// package dialect. Counters and histograms stay cumulative; Window turns them
// into rates and quantiles. Missing is an empty Opt or a nil histogram. A histogram
// without bounds has an exact mean and no quantiles. EngineReadings lists the fields
// that are readings.
type Engine struct {
	At       time.Time
	Endpoint string
	Dialect  string // vllm, sglang, …
	Model    string
	Role     Role
	Instance string            // which of the engines behind the endpoint; "" for the endpoint as a whole
	Parts    []*Engine         // the engines behind the endpoint (data-parallel ranks), nil when it is one
	Only     string            // the name of that one, where the page says it: it goes on as a part when others join it
	Origins  map[string]Origin // how each reading was obtained, by its name; shared, not to be changed
	AtFinish bool              // token counters move when a request ends, not while it runs

	Running  Opt[float64] // sequences in the batch
	Waiting  Opt[float64] // requests not yet scheduled
	Waits    []Wait       // what Waiting is made of, where the engine says
	KVUsage  Opt[float64] // ratio 0–1 of KV blocks in use
	KVTokens Opt[float64] // capacity, tokens

	MaxRunning    Opt[float64] // cap on running sequences, when told
	TokenBudget   Opt[float64] // cap on tokens a step, when told
	StartUnixSecs Opt[float64] // process start

	PromptTokens     Opt[float64] // counters
	GenerationTokens Opt[float64]
	TokensPerSecond  Opt[float64] // generated, as the engine itself says: a gauge over a span of its own choice
	PrefixQueries    Opt[float64] // tokens looked up
	PrefixHits       Opt[float64] // tokens found
	PrefixHitRatio   Opt[float64] // as the engine itself says, over its own span; only where the two above are not told
	PromptComputed   Opt[float64] // prompt tokens by source: computed here,
	PromptCached     Opt[float64] // found in a local cache,
	PromptReceived   Opt[float64] // got from another instance or an outer cache
	Preemptions      Opt[float64]
	Finished         Opt[float64] // requests that ended well (stop, length)
	Failed           Opt[float64] // abort, error
	Aborted          Opt[float64] // of them: the client gave up
	Rejected         Opt[float64]

	SpecDrafts      Opt[float64] // speculative decoding: guesses made, counters
	SpecDraftTokens Opt[float64] // tokens in them
	SpecAccepted    Opt[float64] // of them accepted
	SpecAcceptance  Opt[float64] // ratio, as the engine itself says, where it counts nothing

	TTFT       *Histogram // seconds; arrival until first token, queue and prefill included
	TPOT       *Histogram // seconds per output token
	StepTime   *Histogram // seconds between the steps of a stream (inter-token latency); a step may yield several tokens
	E2E        *Histogram
	Frontend   *Histogram // before the queue: parsing, tokenizing
	Queue      *Histogram
	Prefill    *Histogram
	Decode     *Histogram
	Transfer   *Histogram // KV cache from the prefill to the decode instance
	PromptLen  *Histogram // tokens
	OutputLen  *Histogram // tokens
	StepTokens *Histogram // tokens scheduled a step
}

// Role is what an instance does where several serve a request together.
type Role string

const (
	Whole    Role = ""         // all of it
	Frontend Role = "frontend" // takes requests and passes them on
	Prefill  Role = "prefill"  // prompts, for a decode instance
	Decode   Role = "decode"   // tokens, after a prefill instance
)

// Wait is a part of the waiting requests, by reason, class or queue.
type Wait struct {
	Name  string // capacity, deferred, grammar, realtime …
	Depth float64
}

// Origin says how a reading was obtained.
type Origin uint8

const (
	NotTold    Origin = iota // the engine does not expose it
	Exact                    // told by the engine
	Difference               // computed from other readings of it, as exact as they are
	Estimated                // something close to it
)

var originNames = [...]string{"not exposed", "exact", "difference", "estimated"}

func (o Origin) String() string {
	if int(o) < len(originNames) {
		return originNames[o]
	}
	return originNames[NotTold]
}

// Origin is how the reading of that name was obtained.
func (e *Engine) Origin(name string) Origin { return e.Origins[name] }
