package engine

import (
	"bytes"
	"context"
	"encoding/json"
)

// stream writes the answer as server-sent events, each token as it comes.
func (c *call) stream(ctx context.Context, a *answer) error {
	s := &eventStream{call: c}
	var pieces []piece
	for {
		select {
		case <-ctx.Done():
			return c.abandon(a.job)
		case <-a.pieces.ready:
		}
		pieces, _ = a.pieces.take(pieces)
		for _, p := range pieces {
			if err := s.piece(p); err != nil {
				return c.abandon(a.job) // the client does not take it
			}
			if p.finish != "" {
				return s.end(p, a)
			}
		}
	}
}

// eventStream writes server-sent events. The head of the answer goes out with the
// first one, so that whatever fails before can still be told by the status.
type eventStream struct {
	*call
	buf bytes.Buffer
}

// piece writes one token's text, unless it adds nothing that the client must see.
func (s *eventStream) piece(p piece) error {
	if p.finish == FinishError || p.finish == FinishAbort {
		return nil
	}
	if s.begun && p.text == "" && p.finish == "" {
		return nil
	}
	first := !s.begun
	if err := s.send(s.out.chunk(p, first)); err != nil {
		return err
	}
	if first {
		s.metrics.ttft.Observe(s.record.snapshot().ttft.Seconds())
	}
	return nil
}

// end writes what follows the last token. An error of these writes concerns
// nobody: the answer is complete, or the client has been told all there is.
func (s *eventStream) end(p piece, a *answer) error {
	if p.finish == FinishError || p.finish == FinishAbort {
		err := s.interrupted(p.finish)
		if !s.begun {
			return err
		}
		_ = s.send(toAPI(err)) // the status is out
	} else {
		s.finish = p.finish
		if s.out.usage {
			_ = s.send(s.out.total(s.usage(a, p)))
		}
	}
	_ = s.raw("data: [DONE]\n\n")
	return nil
}

// send writes v as one event.
func (s *eventStream) send(v any) error {
	s.buf.Reset()
	s.buf.WriteString("data: ")
	enc := json.NewEncoder(&s.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	s.buf.WriteByte('\n')
	return s.raw(s.buf.String())
}

func (s *eventStream) raw(event string) error {
	if !s.begun {
		s.begun = true
		h := s.w.Header()
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no") // proxies hold streams back otherwise
	}
	return s.write(func() error {
		_, err := s.w.Write([]byte(event))
		return err
	})
}
