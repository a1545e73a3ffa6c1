package twin

import (
	"fmt"
	"math/rand/v2"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/exposition"
	"llmtop/engine/twin/workload"
	"llmtop/probes"
)

// listener is a metrics page that holds what it is told against itself.
type listener struct {
	t                                            interface{ Errorf(string, ...any) }
	arrived, queued, admitted, firsts, finished  int
	steps, decodes, gapped, stalled, restarts, n int
	thrown, again, queries, hits                 int
	log                                          []byte // digest of it all
	last                                         time.Time
}

func (l *listener) hear(at time.Time, what string, v ...any) {
	if at.Before(l.last) {
		l.t.Errorf("%s at %s, after %s", what, at, l.last)
	}
	l.last = at
	l.log = append(l.log, fmt.Sprintln(at.UnixNano(), what, v)...)
	if len(l.log) > 1<<20 {
		l.log = fmt.Appendf(l.log[:0], "%x\n", digest(l.log))
	}
}

func digest(b []byte) (h uint64) {
	for _, c := range b {
		h = mix(h + uint64(c))
	}
	return h
}

func (l *listener) Arrived(at time.Time, bytes int) { l.arrived++; l.hear(at, "arrived", bytes) }

func (l *listener) Queued(r *exposition.Request) {
	l.queued++
	l.expect(r, "queued", engine.StageQueue)
}

func (l *listener) Admitted(r *exposition.Request) {
	l.admitted++
	l.expect(r, "admitted", engine.StagePrefill)
}

func (l *listener) First(r *exposition.Request) {
	l.firsts++
	l.hear(r.At, "first", *r.Line, r.TTFT)
	if r.TTFT <= 0 && r.Line.Total() > time.Millisecond {
		l.t.Errorf("a first token after %v s", r.TTFT)
	}
}

func (l *listener) Finished(r *exposition.Request) {
	l.finished++
	l.hear(r.At, "finished", *r.Line, r.E2E, r.TPOT, r.Output, r.Finish)
}

func (l *listener) expect(r *exposition.Request, what string, in engine.Stage) {
	l.hear(r.At, what, *r.Line)
	if r.Line.Stage() != in {
		l.t.Errorf("%s in stage %s", what, r.Line.Stage())
	}
}

func (l *listener) Stalled(float64) { l.stalled++ }

func (l *listener) Step(s *exposition.Step) {
	l.steps++
	l.decodes, l.gapped = l.decodes+s.Decode, l.gapped+s.Gapped
	l.thrown, l.again, l.queries, l.hits = l.thrown+s.Thrown, l.again+s.Again, l.queries+s.Queries, l.hits+s.Hits
	now := *s.Now
	step := *s
	step.Now = nil
	l.hear(s.At, "step", step, now)
	if now.Front < 0 || now.Waiting < 0 || now.Swapped < 0 || now.Swapped > now.Waiting || now.Used < 0 {
		l.t.Errorf("gauges %+v", now)
	}
}

func (l *listener) Restarted(exposition.Info) { l.restarts++ }
func (l *listener) Resized(int)               { l.n++ }
func (l *listener) Scrape(time.Time, *exposition.State) (*probes.Schema, []float64) {
	return nil, nil
}

// anything shapes requests of every kind.
func anything(r *rand.Rand, q *workload.Request) {
	q.Prompt = 1 + r.IntN(300)
	q.Output = 1 + r.IntN(60)
	q.Bytes = 4 * q.Prompt
	q.Class = engine.Realtime + engine.Class(r.IntN(engine.NumClasses))
	q.Stream = r.IntN(4) > 0
	if r.IntN(3) == 0 {
		q.Prefix = []workload.Segment{{ID: uint64(r.IntN(5)), Tokens: r.IntN(q.Prompt)}}
	}
	if r.IntN(4) == 0 {
		q.Adapter = 1 + r.IntN(6)
	}
	if r.IntN(5) == 0 {
		q.Schema = 1 + r.IntN(10)
	}
	if r.IntN(20) == 0 {
		q.Images = 1
	}
	q.Slow = r.IntN(10) == 0
}
