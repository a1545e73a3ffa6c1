package engine

import (
	"context"
	"time"
)

// answer turns the tokens of one job into pieces of text, as they come. It has a
// goroutine of its own, so that a client that reads slowly delays neither the
// engine's loop nor the search for stop strings.
type answer struct {
	engine  *Engine
	job     *job
	decoder Decoder
	filter  textFilter
	probs   withheld
	stream  bool // the text is written as it comes
	tokens  int  // taken so far
	pieces  *mailbox[piece]
}

// piece is the text of one token (often a part of a word, at times none), or the end of the answer.
type piece struct {
	text     string
	logprobs []placed // of the tokens that the text shows, if wanted
	finish   Finish   // empty: more is to come
	tokens   int      // of the answer so far
}

func newAnswer(e *Engine, j *job, f textFilter, stream bool) *answer {
	return &answer{engine: e, job: j, decoder: e.tokenizer.NewDecoder(), filter: f, stream: stream, pieces: newMailbox[piece]()}
}

// run works until the answer is complete or the client has gone.
func (a *answer) run(ctx context.Context) {
	defer a.pieces.close()
	var events []event
	for closed := false; !closed; {
		select {
		case <-ctx.Done():
			return
		case <-a.job.events.ready:
		}
		events, closed = a.job.events.take(events)
		for _, ev := range events {
			if a.take(ev) {
				return
			}
		}
	}
}

// take handles one event and reports whether the answer is complete.
func (a *answer) take(ev event) bool {
	begun := a.engine.config.Now()
	p := a.piece(ev)
	if p.finish != "" && ev.finish == "" {
		a.engine.cancel(a.job) // a stop string: the loop does not know that it is over
	}
	now := a.engine.config.Now()
	a.note(ev, p.finish, begun, now)
	if p.finish != "" {
		a.engine.ended(a.job, p.finish, now)
	}
	a.pieces.put(p)
	return p.finish != ""
}

// note writes an event into the request's record.
func (a *answer) note(ev event, finish Finish, begun, now time.Time) {
	first := a.tokens == 1 && ev.token >= 0 && !a.stream
	var ttft time.Duration
	a.job.record.update(func(f *facts) {
		f.detokenizeBusy += now.Sub(begun)
		if first {
			f.firstText(now)
			ttft = f.ttft
		}
		if finish == FinishStop || finish == FinishLength {
			f.outputTokens = a.tokens // the loop may be ahead of a stop string
			f.line.Skip(StageDetokenize, ev.at)
			f.line.Finish(StageDetokenize, now)
		}
	})
	if first {
		a.engine.metrics.ttft.Observe(ttft.Seconds())
	}
}

// piece is what an event adds to the answer.
func (a *answer) piece(ev event) piece {
	text, finish := a.text(ev)
	cutOff := finish == FinishLength // else the answer ends where its text does
	return piece{text: text, logprobs: a.probs.release(text, cutOff), finish: finish, tokens: a.tokens}
}

// text is the text that an event adds, and the reason if it is the last.
func (a *answer) text(ev event) (text string, finish Finish) {
	stop := ev.finish == FinishStop
	if ev.token >= 0 {
		a.tokens++
	}
	if ev.token >= 0 && !stop {
		a.probs.token(ev.logprobs)
		text = a.decoder.Push(ev.token)
	}
	if ev.finish != "" {
		text += a.decoder.Flush()
	}
	a.probs.text(text)
	text, stopped := a.filter.push(text)
	switch {
	case stopped:
		return text, FinishStop
	case ev.finish != "":
		return text + a.filter.flush(stop), ev.finish
	}
	return text, ""
}
