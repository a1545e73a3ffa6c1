package probes

import "time"

// Stage is a link of the chain a request passes, in order. Stages are
// consecutive: each begins where the one before ends, so a request's stage times
// add up to its end-to-end time exactly.
type Stage int

const (
	StageReceive    Stage = iota // first byte of the request until its body is read
	StageParse                   // JSON and parameter checks
	StageAuth                    // credentials
	StageTokenize                // text to tokens
	StageAssemble                // tokens to a sequence: template, limits, block hashes
	StageQueue                   // waiting for the scheduler
	StageBatch                   // chosen by the scheduler until its first step runs
	StagePrefill                 // first step until the first token is sampled
	StageDecode                  // first token until the last token is sampled
	StageDetokenize              // last token until its text is ready
	StageSend                    // until the last byte is written
	NumStages
)

// StageNames are the names of the stages, in order, as used on screen, in JSON and in signals.
var StageNames = [NumStages]string{
	"receive", "parse", "auth", "tokenize", "assemble", "queue",
	"batch", "prefill", "decode", "detokenize", "send",
}

func (s Stage) String() string { return StageNames[s] }

// StageSeconds holds the seconds spent in each stage.
type StageSeconds [NumStages]float64

// Request is what an engine tells of one request: lengths and times, never text.
type Request struct {
	Seq                   uint64       `json:"seq"` // the engine's order of finishing (finished) or arrival (running)
	ID                    string       `json:"id"`  // hashed by the engine
	Class                 string       `json:"class,omitempty"`
	Stream                bool         `json:"stream,omitempty"`
	State                 string       `json:"state"`            // the stage it is in, or "finished"
	Finish                string       `json:"finish,omitempty"` // stop, length, abort, error, rejected
	Arrived               time.Time    `json:"arrived"`
	PromptBytes           int          `json:"prompt_bytes"`
	PromptTokens          int          `json:"prompt_tokens"`
	CachedTokens          int          `json:"cached_tokens"`
	OutputTokens          int          `json:"output_tokens"`
	Preemptions           int          `json:"preemptions,omitempty"`
	Coarse                bool         `json:"coarse,omitempty"` // of the stages only queue, prefill and decode are told apart; what was before the queue is in receive, what came after decode in send
	Stages                StageSeconds `json:"stages"`
	TTFTSeconds           Opt[float64] `json:"ttft_seconds,omitzero"` // arrival until the first token is written, or is text if the answer is not streamed
	E2ESeconds            Opt[float64] `json:"e2e_seconds,omitzero"`
	MaxITLSeconds         Opt[float64] `json:"max_itl_seconds,omitzero"`          // longest gap between two of its tokens
	DetokenizeBusySeconds float64      `json:"detokenize_busy_seconds,omitempty"` // seconds spent making text, all tokens
	SendBusySeconds       float64      `json:"send_busy_seconds,omitempty"`       // seconds spent writing, all tokens
	PreemptedSeconds      float64      `json:"preempted_seconds,omitempty"`       // waiting after preemptions, inside prefill or decode
}

// TPOTSeconds is the request's mean time per output token after the first; ok
// is false with fewer than two tokens.
func (r *Request) TPOTSeconds() (seconds float64, ok bool) {
	if r.OutputTokens < 2 {
		return 0, false
	}
	return r.Stages[StageDecode] / float64(r.OutputTokens-1), true
}

// Requests is a section: the requests that finished since the previous read and
// those in flight now.
type Requests struct {
	At       time.Time  `json:"at"`
	Endpoint string     `json:"endpoint"`
	Finished []*Request `json:"finished,omitempty"`
	Running  []*Request `json:"running,omitempty"` // bounded; InFlight counts all
	InFlight int        `json:"in_flight"`
	Missed   int        `json:"missed,omitempty"` // finished, but gone from the engine's ring before we read, or told with times that cannot be

	// FinishedOnly says that nothing is known of requests in flight, and that Finished may
	// be a sample of what finished: InFlight 0 and an empty Finished tell nothing then. So
	// it is with traces.
	FinishedOnly bool `json:"finished_only,omitempty"`
}
