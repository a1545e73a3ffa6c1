package exposition

import "llmtop/engine"

// What several engines tell, in the same way.

func constant(v float64) feed { return func(*page, *event) (float64, int) { return v, 1 } }

func started(p *page, _ *event) (float64, int) { return unix(p.info.Started), 1 }

// often counts the event.
func often(*page, *event) (float64, int) { return 1, 1 }

// some is an amount that moves nothing when it is 0.
func some(n int) (float64, int) {
	if n == 0 {
		return 0, 0
	}
	return float64(n), 1
}

// ofState shows a number of the state.
func ofState(number func(*State) int) feed {
	return func(_ *page, e *event) (float64, int) { return float64(number(e.state)), 1 }
}

func running(s *State) int  { return s.Running }
func waiting(s *State) int  { return s.Waiting }
func deferred(s *State) int { return min(s.Deferred, s.Waiting) }
func capacity(s *State) int { return s.Waiting - deferred(s) }

// free is the number of KV blocks that hold nothing.
func free(p *page, e *event) (float64, int) {
	return float64(max(0, p.blocks-e.state.Used-e.state.Cached)), 1
}

// usage is the share of the KV blocks that sequences hold.
func usage(p *page, e *event) (float64, int) {
	return min(1, float64(e.state.Used)/float64(p.blocks)), 1
}

// ofStep counts something of a step.
func ofStep(number func(*Step) int) feed {
	return func(_ *page, e *event) (float64, int) { return some(number(e.step)) }
}

func generated(s *Step) int { return s.First + s.Decode }
func preempts(s *Step) int  { return s.Preempts }
func queries(s *Step) int   { return s.Queries }
func hits(s *Step) int      { return s.Hits }
func drafts(s *Step) int    { return s.Drafts }
func drafted(s *Step) int   { return s.Drafted }
func accepted(s *Step) int  { return s.Accepted }

// acceptedAt counts the guesses at one of n places that held. A guess holds only if those
// before it do, so without more to go by whole guesses are taken to hold or not.
func acceptedAt(place, n int) feed {
	return func(_ *page, e *event) (float64, int) {
		switch at := e.step.ByPlace; {
		case place < len(at):
			return some(at[place])
		case at != nil:
			return 0, 0
		}
		return some(share(e.step.Accepted, place, n))
	}
}

// share is what of a total one of n places gets when all get the same and the first the rest.
func share(total, place, n int) int { return (total + n - 1 - place) / n }

// gaps are the times between two steps of a sequence, each sequence's.
func gaps(_ *page, e *event) (float64, int) { return e.step.Gap, e.step.Gapped }

func stalled(_ *page, e *event) (float64, int) { return e.gap, 1 }

// ofRequest takes a number of a request, whatever it is.
func ofRequest(number func(*Request) float64) feed {
	return func(_ *page, e *event) (float64, int) { return number(e.request), 1 }
}

// ofAnswered takes a number of a request that has come to its proper end: the times of
// an abandoned one say when its client lost patience.
func ofAnswered(number func(*Request) float64) feed {
	return func(_ *page, e *event) (float64, int) {
		if !answered(e.request) {
			return 0, 0
		}
		return number(e.request), 1
	}
}

func answered(r *Request) bool {
	return r.Finish == engine.FinishStop || r.Finish == engine.FinishLength
}

// ended counts requests by how they ended.
func ended(why ...engine.Finish) feed {
	return func(_ *page, e *event) (float64, int) {
		for _, w := range why {
			if e.request.Finish == w {
				return 1, 1
			}
		}
		return 0, 0
	}
}

func prompt(r *Request) float64   { return float64(r.Prompt) }
func output(r *Request) float64   { return float64(r.Output) }
func asked(r *Request) float64    { return float64(r.Asked) }
func cached(r *Request) float64   { return float64(r.Cached) }
func received(r *Request) float64 { return float64(r.Received) }
func computed(r *Request) float64 { return float64(computedTokens(r)) }

func computedTokens(r *Request) int { return max(0, r.Prompt-r.Cached-r.Received) }

func inAll(r *Request) float64 { return spent(r, engine.StageReceive, engine.StageSend) }

// spent is the time from the beginning of one stage to the end of another.
func spent(r *Request, from, to engine.Stage) float64 {
	if r.Line == nil {
		return 0
	}
	total := r.Line.Spent(from)
	for s := from + 1; s <= to; s++ {
		total += r.Line.Spent(s)
	}
	return total.Seconds()
}

func queueTime(r *Request) float64     { return spent(r, engine.StageQueue, engine.StageQueue) }
func prefillTime(r *Request) float64   { return spent(r, engine.StageBatch, engine.StagePrefill) }
func decodeTime(r *Request) float64    { return spent(r, engine.StageDecode, engine.StageDecode) }
func inferenceTime(r *Request) float64 { return spent(r, engine.StageBatch, engine.StageDecode) }

// Clocks of engines in Python and Rust start in the handler, which their web framework
// calls when the body has been read and parsed: what these took is not seen.

func ttft(r *Request) float64 {
	return max(0, r.TTFT-spent(r, engine.StageReceive, engine.StageParse))
}

// e2e ends with the last token, e2eText with its text.
func e2e(r *Request) float64     { return spent(r, engine.StageAuth, engine.StageDecode) }
func e2eText(r *Request) float64 { return spent(r, engine.StageAuth, engine.StageDetokenize) }

// tpot is that of an answered request of more than one token.
func tpot(_ *page, e *event) (float64, int) {
	if !answered(e.request) || e.request.Output < 2 {
		return 0, 0
	}
	return e.request.TPOT, 1
}

// transfer is how long keys and values came from another instance.
func transfer(_ *page, e *event) (float64, int) {
	if e.request.Transfer <= 0 {
		return 0, 0
	}
	return e.request.Transfer, 1
}

// status is the class of the answer's HTTP status: that of a stream is sent before it breaks off.
func status(r *Request) string {
	switch r.Finish {
	case engine.FinishRejected:
		return "4xx"
	case engine.FinishError:
		if r.TTFT == 0 || r.AtOnce {
			return "5xx"
		}
	}
	return "2xx"
}

// answers counts those of one class.
func answers(class string) feed {
	return func(_ *page, e *event) (float64, int) {
		if status(e.request) != class {
			return 0, 0
		}
		return 1, 1
	}
}
