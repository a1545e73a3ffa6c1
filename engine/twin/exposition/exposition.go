// Package exposition shows a simulated engine as the engines of the field would show themselves:
// which families, which labels, which buckets, and when each moves. A Page takes what happens and
// yields raw series, as a scrape of that engine would, or the same as text.
package exposition

import (
	"io"
	"time"

	"llmtop/engine"
	"llmtop/probes"
)

// Info is what a page says of its engine and never changes while it runs.
type Info struct {
	Model       string
	BlockSize   int
	Blocks      int // of the KV cache
	MaxNumSeqs  int
	TokenBudget int
	Ranks       int // tensor- and pipeline-parallel processes
	PrefixCache bool
	Drafts      int // guesses a step; 0: no speculation
	Started     time.Time
}

// State is what gauges show, at one moment.
type State struct {
	Running  int
	Waiting  int
	Deferred int // of Waiting: held back for something else than room (adapter, grammar, transfer)
	Used     int // blocks that sequences hold
	Cached   int // free blocks that keep a prefix
	Front    int // requests that are not in the scheduler yet: parsing, tokenizing
	Back     int // requests whose tokens are all there but not sent
	Swapped  int
	Adapters []int // LoRA adapters of running and of waiting sequences
}

// Step is what happened in one step that has ended.
type Step struct {
	At       time.Time
	Seconds  float64
	Prefills int
	Prefill  int // prompt tokens computed
	Decodes  int
	Decode   int // tokens generated, the first of a request not among them
	First    int // first tokens generated
	Gap      float64
	Gapped   int // how many sequences got a token Gap seconds after their last one
	Drafts   int // guesses held against what was picked, of so many sequences
	Drafted  int
	Accepted int
	Preempts int
	Queries  int // tokens looked up in the prefix cache, and found
	Hits     int
}

// Request is what is known of one when it has got on: its stamps so far and its lengths.
type Request struct {
	At       time.Time
	Line     *engine.Timeline
	TTFT     float64 // seconds since it arrived; 0 before its first token
	TPOT     float64 // seconds a token after the first; 0 before its end or with one token
	E2E      float64
	Prompt   int
	Cached   int
	Output   int
	Asked    int // max_tokens
	Received int // prompt tokens whose keys and values came from another instance
	Transfer float64
	Finish   engine.Finish
	Preempts int
	Adapter  int
}

// Page is the metrics page of one engine process. It is not safe for concurrent use.
type Page interface {
	Arrived(at time.Time, bytes int) // a request has come in
	Queued(r *Request)               // it is in the scheduler
	Admitted(r *Request)             // it has left the queue for the first time
	First(r *Request)                // its first token is there
	Stalled(gap float64)             // one of its tokens came so long after the last, not among a Step's Gapped
	Finished(r *Request)             // whatever its Finish; also of what never got into the scheduler
	Step(s *Step)
	Restarted(i Info) // a new process: everything begins anew

	// Scrape reads the page. The schema is the same pointer as long as the page keeps its
	// shape; values belong to the caller.
	Scrape(at time.Time, s *State) (*probes.Schema, []float64)
}

// WriteText writes a scrape in the Prometheus text format, as the engine's /metrics would.
func WriteText(w io.Writer, schema *probes.Schema, values []float64) error {
	return writeText(w, schema, values)
}
