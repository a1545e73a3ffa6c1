package load

import "time"

// Summary is a distribution in the unit of its field. Quantiles are within half a
// percent; count, mean and maximum are exact.
type Summary struct {
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Report is what a run, or one interval of it, came to. Sent is the sum of
// Completed, Rejected, TimedOut, Failed and Aborted; in an interval's report these
// are the requests that ended in it, and Sent those that began in it. Latencies are of completed requests only, from
// the intended arrival; a Summary is nil when there is nothing to sum up.
type Report struct {
	URL            string    `json:"url"`
	Model          string    `json:"model"`
	Started        time.Time `json:"started"`
	ElapsedSeconds float64   `json:"elapsed_seconds"`
	TargetRate     float64   `json:"target_rate"` // requests a second, as asked for
	SentRate       float64   `json:"sent_rate"`   // requests a second, as sent, over the time of sending

	Sent      uint64          `json:"sent"`
	Completed uint64          `json:"completed"`
	Rejected  uint64          `json:"rejected"`  // answered 429
	TimedOut  uint64          `json:"timed_out"` // not finished within the timeout
	Failed    uint64          `json:"failed"`    // all other errors, see Errors
	Aborted   uint64          `json:"aborted"`   // still out when the run was ended
	InFlight  int             `json:"in_flight"` // now; 0 at the end of a run
	Errors    []ErrorKind     `json:"errors,omitempty"`
	TTFT      *Summary        `json:"ttft_seconds,omitempty"`
	TPOT      *Summary        `json:"tpot_seconds,omitempty"` // (last token − first) / (tokens − 1)
	E2E       *Summary        `json:"e2e_seconds,omitempty"`
	Prompt    *Summary        `json:"prompt_tokens,omitempty"` // as the server counted
	Output    *Summary        `json:"output_tokens,omitempty"`
	Tokens    TokenThroughput `json:"tokens"`
	Client    Client          `json:"client"`
}

// TokenThroughput counts the tokens of completed requests.
type TokenThroughput struct {
	In           uint64  `json:"in"`
	Out          uint64  `json:"out"`
	OutPerSecond float64 `json:"out_per_second"`
	Estimated    bool    `json:"estimated,omitempty"` // for some answers the server sent no usage: chunks were counted
}

// ErrorKind is a sort of failure, how often it came, and the first one's words.
type ErrorKind struct {
	Kind    string `json:"kind"`
	Count   uint64 `json:"count"`
	Example string `json:"example"`
}

// Client says whether the client itself held the load back.
type Client struct {
	CPUCores    float64  `json:"cpu_cores"`             // processor time of the whole process / elapsed time
	Cores       int      `json:"cores"`                 // that Go may use
	Lag         *Summary `json:"lag_seconds,omitempty"` // from intended arrival to send
	MaxInFlight int      `json:"max_in_flight"`         // most at once
	Capped      uint64   `json:"capped"`                // arrivals not sent, as MaxInFlight was reached
	Bottleneck  []string `json:"bottleneck,omitempty"`  // why the client, not the server, shaped the numbers; empty: it did not
}
