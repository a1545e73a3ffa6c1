package live

import (
	"sync"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/exposition"
)

// Arrived counts a request in.
func (t *Twin) Arrived(at time.Time, bytes int64) {
	t.mu.Lock()
	t.open++
	t.load.Requests++
	t.load.BytesIn += float64(max(0, bytes))
	t.mu.Unlock()
	t.page.do(func(p *page) {
		p.front++
		p.page.Arrived(at, int(max(0, bytes)))
	})
}

// Stage takes the time of the event loop's work.
func (t *Twin) Stage(s engine.Stage, bytes int) { t.front.stage(s, bytes) }

// Queued passes a request on to the page.
func (t *Twin) Queued(r *engine.Observed) {
	t.page.do(func(p *page) {
		p.front--
		p.page.Queued(p.request(r))
	})
}

// Admitted passes it on when its first step begins.
func (t *Twin) Admitted(r *engine.Observed) {
	t.page.do(func(p *page) { p.page.Admitted(p.request(r)) })
}

// First passes it on at its first token.
func (t *Twin) First(r *engine.Observed) {
	t.page.do(func(p *page) { p.page.First(p.request(r)) })
}

// bytesToken is what a client gets for a token: an event with its JSON.
const bytesToken = 250

// Finished counts it out.
func (t *Twin) Finished(r *engine.Observed) {
	t.mu.Lock()
	t.open--
	t.load.BytesOut += float64(r.Output) * bytesToken
	t.mu.Unlock()
	t.page.do(func(p *page) {
		if r.Asked == 0 { // it was never queued
			p.front--
		}
		p.page.Finished(p.request(r))
	})
}

// Stepped passes a step on to the page.
func (t *Twin) Stepped(s *engine.ObservedStep) { t.page.do(func(p *page) { p.stepped(s) }) }

// Rests ends the schedule of steps.
func (t *Twin) Rests() { t.pace.rest() }

// page is the metrics page of another engine, fed from this one. A nil page takes nothing.
type page struct {
	mu      sync.Mutex
	page    exposition.Page
	front   int // requests that are not in the scheduler yet
	seen    engine.Stats
	last    time.Time // when the step before was over
	scratch exposition.Request
}

func (p *page) do(what func(*page)) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		what(p)
	}
}

// request is one as pages have it.
func (p *page) request(r *engine.Observed) *exposition.Request {
	p.scratch = exposition.Request{
		At: r.At, Line: &r.Line, TTFT: r.TTFT.Seconds(), Prompt: r.Prompt, Cached: r.Cached, Output: r.Output, Asked: r.Asked,
		Finish: r.Finish, Preempts: r.Preempt,
	}
	if r.Finish != "" {
		p.scratch.E2E = r.Line.Total().Seconds()
	}
	if r.Finish != "" && r.Output > 1 {
		p.scratch.TPOT = r.Line.Spent(engine.StageDecode).Seconds() / float64(r.Output-1)
	}
	return &p.scratch
}

// stepped splits the gaps between tokens into those as long as the step and the others.
func (p *page) stepped(s *engine.ObservedStep) {
	x := exposition.Step{
		At: s.At, Seconds: s.At.Sub(s.Begun).Seconds(), Prefills: s.Prefills, Prefill: s.Prompt, Decodes: s.Decodes,
		Decode: s.Generated, First: s.First, Drafts: s.Drafts, Drafted: s.Drafted, Accepted: s.Accepted, Preempts: s.Preempted,
		Queries: int(s.Stats.PrefixQueries - p.seen.PrefixQueries), Hits: int(s.Stats.PrefixHits - p.seen.PrefixHits),
	}
	usual := s.At.Sub(p.last)
	for _, gap := range s.Gaps {
		if gap == usual {
			x.Gap, x.Gapped = gap.Seconds(), x.Gapped+1
		} else {
			p.page.Stalled(gap.Seconds())
		}
	}
	p.last, p.seen = s.At, s.Stats
	p.page.Step(&x)
}
