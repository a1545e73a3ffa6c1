package exposition

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"llmtop/engine"
	"llmtop/probes"
)

// life is a random but consistent life of requests, and the truth about it: what a page
// may tell is compared with that. Pages only hear of it.
type life struct {
	pages []Page
	info  Info
	rng   *rand.Rand
	now   time.Time

	waiting, running []*living
	state            State // as it is now
	stepped          State // as it was when the last step ended
	logged           State // as it was when SGLang wrote its gauges last
	tgiQueue         int
	idleSince        time.Time
	decodeSteps      int
	decoded          int

	numbers map[string]float64
	values  map[string][]float64
}

// living is a request and how far it is.
type living struct {
	Request
	line  engine.Timeline
	want  int // tokens
	left  int // of its prompt to compute
	last  time.Time
	whole engine.Finish
}

func newLife(seed uint64, i Info) *life {
	l := &life{info: i, rng: rand.New(rand.NewPCG(seed, 77)), now: i.Started.Add(30 * time.Second)}
	l.forget()
	return l
}

// forget is what a restart does to the truth.
func (l *life) forget() {
	l.numbers, l.values = map[string]float64{}, map[string][]float64{}
	l.waiting, l.running = nil, nil
	l.state, l.stepped, l.logged = State{}, State{}, State{}
	l.tgiQueue, l.decodeSteps, l.decoded = 0, 0, 0
}

func (l *life) add(name string, n int)         { l.numbers[name] += float64(n) }
func (l *life) observe(name string, v float64) { l.values[name] = append(l.values[name], v) }
func (l *life) all(tell func(Page))            { tellAll(l.pages, tell) }
func (l *life) after(most int) time.Duration {
	return time.Duration(1+l.rng.IntN(most)) * time.Millisecond
}
func (r *living) part(s ...engine.Stage) float64 { return partsOf(&r.line, s) }

func tellAll(pages []Page, tell func(Page)) {
	for _, p := range pages {
		tell(p)
	}
}

func partsOf(t *engine.Timeline, stages []engine.Stage) float64 {
	total := 0.0
	for _, s := range stages {
		total += t.Spent(s).Seconds()
	}
	return total
}

// step lives through one step of the engine.
func (l *life) step() {
	for range l.rng.IntN(4) {
		l.arrive()
	}
	l.abandon()
	var s Step
	l.admit(&s)
	begun := l.now
	host := l.after(3)
	took := host + l.after(60)
	l.now = begun.Add(took)
	s.At, s.Seconds, s.Host = l.now, took.Seconds(), host.Seconds()
	firsts := l.prefill(&s, begun.Add(host))
	l.decode(&s, firsts)
	l.preempt(&s)
	l.finish()
	l.ended(&s)
}

func (l *life) arrive() {
	l.all(func(p Page) { p.Arrived(l.now, 100) })
	l.add("arrived", 1)
	r := &living{want: 1 + l.rng.IntN(60)}
	r.Prompt, r.Class = 1+l.rng.IntN(900), engine.Class(l.rng.IntN(3)-1)
	r.Asked, r.AtOnce = r.want+l.rng.IntN(2)*20, l.rng.IntN(4) == 0
	r.whole = engine.FinishStop
	if r.Asked == r.want {
		r.whole = engine.FinishLength
	}
	r.line = engine.NewTimeline(l.now)
	r.Line = &r.line
	for s := engine.StageReceive; s <= engine.StageAssemble; s++ {
		l.now = l.now.Add(l.after(4))
		r.line.Finish(s, l.now)
	}
	if l.rng.IntN(8) == 0 {
		l.close(r, engine.FinishRejected)
		return
	}
	r.At = l.now
	l.waiting = append(l.waiting, r)
	l.all(func(p Page) { p.Queued(&r.Request) })
	l.observe("queued prompt", float64(r.Prompt))
	l.tgiQueue++
}

// abandon ends some requests before their time.
func (l *life) abandon() {
	if n := len(l.waiting); n > 2 && l.rng.IntN(6) == 0 {
		r := l.waiting[n-1]
		l.waiting = l.waiting[:n-1]
		l.close(r, engine.FinishAbort)
	}
	if n := len(l.running); n > 2 && l.rng.IntN(10) == 0 {
		r := l.running[n-1]
		l.running = l.running[:n-1]
		why := engine.FinishAbort
		if l.rng.IntN(3) == 0 {
			why = engine.FinishError
		}
		l.close(r, why)
	}
}

// admit lets requests out of the queue.
func (l *life) admit(s *Step) {
	for len(l.waiting) > 0 && len(l.running) < l.info.MaxNumSeqs {
		r := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.running = append(l.running, r)
		if r.left == 0 && r.Output == 0 {
			// The prefix cache never has a whole prompt.
			r.Cached = r.Prompt / 3 * l.rng.IntN(2)
			if l.info.Role == probes.Decode {
				r.Received = r.Prompt - r.Cached - 1
				r.Transfer = l.after(50).Seconds()
			}
			r.left = r.Prompt - r.Cached - r.Received
			s.Queries, s.Hits = s.Queries+r.Prompt, s.Hits+r.Cached
			r.line.Finish(engine.StageQueue, l.now)
			r.At = l.now
			l.all(func(p Page) { p.Admitted(&r.Request) })
			l.observe("admitted queue", r.part(engine.StageQueue))
			l.tgiQueue = -1 // told anew with the next step
		}
	}
}

// prefill computes prompts, and returns those that got their first token.
func (l *life) prefill(s *Step, kernels time.Time) map[*living]bool {
	firsts := map[*living]bool{}
	budget := 512
	for _, r := range l.running {
		if r.Output > 0 || budget == 0 {
			continue
		}
		r.line.Finish(engine.StageBatch, kernels)
		n := min(r.left, budget)
		budget -= n
		r.left -= n
		s.Prefills, s.Prefill = s.Prefills+1, s.Prefill+n
		if r.left > 0 {
			continue
		}
		r.line.Finish(engine.StagePrefill, l.now)
		r.At, r.last, r.Output, r.TTFT = l.now, l.now, 1, r.line.Total().Seconds()
		firsts[r] = true
		s.First++
		l.all(func(p Page) { p.First(&r.Request) })
		l.first(r)
	}
	return firsts
}

// decode gives each sequence that decodes its tokens. Those whose last token came with the
// last step have one gap in common.
func (l *life) decode(s *Step, firsts map[*living]bool) {
	gaps := map[time.Duration]int{}
	for _, r := range l.running {
		if r.Output == 0 || firsts[r] {
			continue
		}
		n := 1
		if l.info.Drafts > 0 && r.want-r.Output > l.info.Drafts {
			held := l.rng.IntN(l.info.Drafts + 1)
			s.Drafts, s.Drafted, s.Accepted = s.Drafts+1, s.Drafted+l.info.Drafts, s.Accepted+held
			n += held
		}
		gaps[l.now.Sub(r.last)]++
		r.last, r.Output = l.now, r.Output+n
		s.Decodes, s.Decode = s.Decodes+1, s.Decode+n
	}
	inOrder := slices.Sorted(maps.Keys(gaps))
	for _, gap := range inOrder {
		if n := gaps[gap]; n > s.Gapped {
			s.Gap, s.Gapped = gap.Seconds(), n
		}
	}
	for _, gap := range inOrder {
		n := gaps[gap]
		for range n {
			l.observe("gaps", gap.Seconds())
		}
		if gap.Seconds() == s.Gap {
			continue
		}
		for range n {
			l.all(func(p Page) { p.Stalled(gap.Seconds()) })
		}
	}
	l.tokenGaps(s, gaps)
}

// tokenGaps are the gaps as they are shared among the tokens that a step yielded.
func (l *life) tokenGaps(s *Step, gaps map[time.Duration]int) {
	for gap, n := range gaps {
		share := gap.Seconds()
		if gap.Seconds() == s.Gap && s.Drafted > 0 {
			tokens := int(float64(s.Decode)*float64(s.Gapped)/float64(s.Decodes) + .5)
			share, n = s.Gap*float64(s.Gapped)/float64(tokens), tokens
		}
		for range n {
			l.observe("token gaps", share)
		}
	}
}

// preempt puts the last sequence back into the queue.
func (l *life) preempt(s *Step) {
	if n := len(l.running); n > 3 && l.rng.IntN(12) == 0 && l.running[n-1].Output > 0 {
		s.Preempts++
		l.waiting = append(l.waiting, l.running[n-1])
		l.running = l.running[:n-1]
	}
}

// finish ends the sequences that have all their tokens.
func (l *life) finish() {
	rest := l.running[:0]
	for _, r := range l.running {
		if r.Output < r.want {
			rest = append(rest, r)
			continue
		}
		r.line.Finish(engine.StageDecode, l.now)
		r.line.Finish(engine.StageDetokenize, l.now.Add(time.Millisecond))
		r.line.Finish(engine.StageSend, l.now.Add(3*time.Millisecond))
		if r.Output > 1 {
			r.TPOT = r.part(engine.StageDecode) / float64(r.Output-1)
		}
		l.close(r, r.whole)
	}
	l.running = rest
}

// close ends a request.
func (l *life) close(r *living, why engine.Finish) {
	r.At, r.Finish = l.now, why
	r.E2E = r.line.Total().Seconds()
	l.all(func(p Page) { p.Finished(&r.Request) })
	l.closed(r)
}

// ended ends a step.
func (l *life) ended(s *Step) {
	l.state = State{Running: len(l.running), Waiting: len(l.waiting), Deferred: len(l.waiting) / 3, Grammar: len(l.waiting) / 4}
	for _, r := range l.running {
		l.state.Used += 1 + (r.Prompt+r.Output)/l.info.BlockSize
	}
	l.state.Cached = (l.info.Blocks - l.state.Used) / 2
	now := l.state
	s.Now = &now
	l.all(func(p Page) { p.Step(s) })
	l.stepTruth(s)
}
