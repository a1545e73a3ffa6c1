package engine

import (
	"context"
	"net/http"
)

// collect waits for the whole answer and writes it.
func (c *call) collect(ctx context.Context, a *answer) error {
	var text []byte
	var probs []placed
	var pieces []piece
	for {
		select {
		case <-ctx.Done():
			return c.abandon(a.job)
		case <-a.pieces.ready:
		}
		pieces, _ = a.pieces.take(pieces)
		for _, p := range pieces {
			text, probs = append(text, p.text...), append(probs, p.logprobs...)
			switch p.finish {
			case "":
			case FinishStop, FinishLength:
				c.finish = p.finish
				p.text, p.logprobs = string(text), probs
				return c.write(func() error { return writeJSON(c.w, http.StatusOK, c.out.whole(p, c.usage(a, p))) })
			default:
				return c.interrupted(p.finish)
			}
		}
	}
}
