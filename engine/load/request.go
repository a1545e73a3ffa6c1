package load

import "time"

// Request is how one request went, as its client saw it. Times are in seconds from the
// moment it was due.
type Request struct {
	Due    time.Time `json:"due"`
	End    string    `json:"end"`            // completed, rejected, timed_out, failed or aborted: the run ended first
	Lag    float64   `json:"lag"`            // until it was sent
	TTFT   float64   `json:"ttft,omitempty"` // until the first text; 0: none came
	TPOT   float64   `json:"tpot,omitempty"` // between output tokens; 0 with fewer than two
	Gap    float64   `json:"gap,omitempty"`  // the longest between two pieces of text, or without one at the end of a request that did not finish
	Age    float64   `json:"age"`            // until it ended, whatever its end
	Prompt int       `json:"prompt_tokens,omitempty"`
	Output int       `json:"output_tokens,omitempty"`
}

var endings = [...]string{completed: "completed", rejected: "rejected", timedOut: "timed_out", failed: "failed", aborted: "aborted"}

func (o outcome) request(due, now time.Time) Request {
	age := now.Sub(due)
	if o.end == completed {
		age = o.e2e
	}
	return Request{
		Due: due.UTC(), End: endings[o.end], Lag: o.lag.Seconds(), TTFT: o.ttft.Seconds(), TPOT: o.tpot.Seconds(), Gap: o.gap.Seconds(),
		Age: age.Seconds(), Prompt: o.promptTokens, Output: o.outputTokens,
	}
}
