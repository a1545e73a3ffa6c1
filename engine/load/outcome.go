package load

import (
	"context"
	"errors"
	"time"
)

type ending uint8

const (
	completed ending = iota
	rejected         // 429
	timedOut         // not done within Config.Timeout of its arrival
	failed           // anything else that went wrong
	aborted          // the run ended first
)

// outcome is how one request went.
type outcome struct {
	end          ending
	kind         string // of a failure
	err          string
	lag          time.Duration // from the intended arrival to the send
	ttft         time.Duration // from the intended arrival to the first text; 0 when no text came
	tpot         time.Duration // between output tokens; 0 with fewer than two
	e2e          time.Duration
	gap          time.Duration // longest between two pieces of text
	promptTokens int
	outputTokens int
	estimated    bool // outputTokens is the number of chunks: the server sent no usage
}

// errTimeout tells a request's own deadline from one of the whole run.
var errTimeout = errors.New("the request's time is over")

func (o outcome) failed(ctx context.Context, kind string, err error) outcome {
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		o.end = timedOut
	case ctx.Err() != nil:
		o.end = aborted
	default:
		o.end, o.kind, o.err = failed, kind, oneLine(cause(err).Error())
	}
	return o
}

// began takes over what is known of an answer that has begun, whatever became of it.
func (o outcome) began(s stream, due time.Time) outcome {
	if s.chunks > 0 {
		o.ttft, o.gap = s.first.Sub(due), s.gap
	}
	return o
}

// pending counts what a request that did not finish waited since its last text.
func (o outcome) pending(s stream, now time.Time) outcome {
	if s.chunks > 0 {
		o.gap = max(o.gap, now.Sub(s.last))
	}
	return o
}

func (o outcome) completed(s stream, due, now time.Time) outcome {
	o.e2e = now.Sub(due)
	o.promptTokens, o.outputTokens = s.promptTokens, s.outputTokens
	if o.outputTokens == 0 && s.chunks > 0 {
		o.outputTokens, o.estimated = s.chunks, true
	}
	o = o.began(s, due)
	if o.outputTokens > 1 && s.chunks > 1 {
		o.tpot = s.last.Sub(s.first) / time.Duration(o.outputTokens-1)
	}
	return o
}
