package probes

import "time"

// Engine is the canonical view of one engine endpoint, computed from a Scrape by
// package dialect. Counters and histograms stay cumulative; Window turns them
// into rates and quantiles. Missing is an empty Opt or a nil histogram.
type Engine struct {
	At       time.Time
	Endpoint string
	Dialect  string // vllm, sglang, …
	Model    string

	Running  Opt[float64] // sequences in the batch
	Waiting  Opt[float64] // requests not yet scheduled
	KVUsage  Opt[float64] // ratio 0–1 of KV blocks in use
	KVTokens Opt[float64] // capacity, tokens

	MaxRunning    Opt[float64] // cap on running sequences, when told
	TokenBudget   Opt[float64] // cap on tokens a step, when told
	StartUnixSecs Opt[float64] // process start

	PromptTokens     Opt[float64] // counters
	GenerationTokens Opt[float64]
	PrefixQueries    Opt[float64] // tokens looked up
	PrefixHits       Opt[float64] // tokens found
	Preemptions      Opt[float64]
	Finished         Opt[float64] // requests that ended well (stop, length)
	Failed           Opt[float64] // abort, error
	Rejected         Opt[float64]

	TTFT       *Histogram // seconds; arrival until first token, queue and prefill included
	TPOT       *Histogram // seconds per output token, one observation a request
	StepTime   *Histogram // seconds between tokens of a stream (inter-token latency), per step
	E2E        *Histogram
	Queue      *Histogram
	Prefill    *Histogram
	Decode     *Histogram
	PromptLen  *Histogram // tokens
	OutputLen  *Histogram // tokens
	StepTokens *Histogram // tokens scheduled a step
}
