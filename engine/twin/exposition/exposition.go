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

// Info is what a page says of its engine.
type Info struct {
	Model       string
	BlockSize   int
	Blocks      int // of the KV cache
	Context     int // tokens of a sequence at most; 0: as many as the KV cache holds
	MaxNumSeqs  int
	TokenBudget int
	MaxQueue    int // requests that may wait; engine.Unlimited: any number
	LongPrefill int // most tokens of one prompt in a step; 0: no bound of its own
	Policy      engine.Policy
	Headroom    float64 // share of the blocks that stays free when a sequence is admitted
	MinShare    float64 // share that each class keeps
	Ranks       int     // tensor- and pipeline-parallel processes; one of them tells for all
	PrefixCache bool
	Drafts      int         // guesses a step; 0: no speculation
	Role        probes.Role // what it does where several serve a request together
	Started     time.Time
}

// State is what gauges show, at one moment.
type State struct {
	Running  int
	Waiting  int
	Deferred int   // of Waiting: held back for something else than room (adapter, grammar, transfer)
	Grammar  int   // of Deferred: for their grammar
	Transfer int   // of Deferred: for keys and values to come from another instance or to go there
	Used     int   // blocks that sequences hold
	Cached   int   // free blocks that keep a prefix
	Front    int   // requests that are not in the scheduler yet: parsing, tokenizing
	Back     int   // requests whose tokens are all there but not sent
	Swapped  int   // of Waiting: preempted, they had begun
	Adapters []int // LoRA adapters of running and of waiting sequences

	// By class, the most urgent first; who is in no class is taken for a normal one.
	RunningBy, WaitingBy [engine.NumClasses]int
}

// Step is what happened in one step that has ended.
type Step struct {
	At       time.Time
	Seconds  float64
	Host     float64 // of Seconds: the scheduler and what else the kernels wait for
	Prefills int
	Prefill  int // prompt tokens computed
	Decodes  int
	Decode   int // tokens generated, the first of a request not among them
	First    int // first tokens generated
	Gap      float64
	Gapped   int // how many sequences got a token Gap seconds after their last one
	Drafts   int // sequences whose guesses were held against what was picked
	Drafted  int // guesses of them
	Accepted int
	ByPlace  []int // of Accepted, by the position of the guess; nil: not known
	Preempts int
	Thrown   int // computed tokens that preemption threw away
	Again    int // tokens computed again after it
	Queries  int // tokens looked up in the prefix cache, and found
	Hits     int
	Found    int // of Hits: for sequences that begin again after a preemption

	// Now is the state as the step ends, for gauges that are written then and stand still until
	// they are written anew; it is not kept. Without it the next scrape knows what is written.
	Now *State
}

// Request is what is known of one when it has got on: its stamps so far and its lengths.
type Request struct {
	At       time.Time
	Line     *engine.Timeline // nil is one without stages
	TTFT     float64          // seconds since it arrived; 0 before its first token
	TPOT     float64          // seconds a token after the first; 0 before its end or with one token
	E2E      float64
	Bytes    int // of the prompt's text
	Prompt   int
	Cached   int
	Output   int
	Asked    int // max_tokens
	Received int // prompt tokens whose keys and values came from another instance
	Transfer float64
	Finish   engine.Finish
	Preempts int
	Adapter  int
	Class    engine.Class
	AtOnce   bool // the client gets the answer in one piece, not as a stream
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
	Restarted(i Info)   // a new process: everything begins anew
	Resized(blocks int) // the KV cache has so many blocks now: what is used and free is of these, the settings stay those of the start

	// Scrape reads the page. The schema is the same pointer as long as the page keeps its
	// shape; values belong to the caller.
	Scrape(at time.Time, s *State) (*probes.Schema, []float64)
}

// WriteText writes a scrape in the Prometheus text format, as the engine's /metrics would.
func WriteText(w io.Writer, schema *probes.Schema, values []float64) error {
	return writeText(w, schema, values)
}
