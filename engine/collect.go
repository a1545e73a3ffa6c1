package engine

import (
	"context"
	"net/http"
)

// collect waits for the whole answer and writes it.
func (c *call) collect(ctx context.Context, a *answer) error {
	var text []byte
	var pieces []piece
	for {
		select {
		case <-ctx.Done():
			return c.abandon(a.job)
		case <-a.pieces.ready:
		}
		pieces, _ = a.pieces.take(pieces)
		for _, p := range pieces {
			text = append(text, p.text...)
			switch p.finish {
			case "":
			case FinishStop, FinishLength:
				c.finish = p.finish
				u := newUsage(len(a.job.seq.Prompt), p.tokens)
				return c.write(func() error { return writeJSON(c.w, http.StatusOK, c.out.whole(string(text), p.finish, u)) })
			default:
				return c.interrupted(p.finish)
			}
		}
	}
}
