package live

import (
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/machine"
)

// Shape tells the sizes that bound requests.
func (t *Twin) Shape() engine.Shape { return engine.Shape{Context: t.config.Context, Vocab: vocabSize} }

// Run lets the time of a step pass and makes up its tokens.
func (t *Twin) Run(batch []engine.Chunk) ([]engine.Result, error) {
	w := workOf(batch)
	begin := t.pace.begin(time.Now())
	d, output := t.begin(&w, begin)
	t.pace.take(d)
	t.end(t.pace.due)
	t.hang()
	t.answers.stepped()
	return t.sample(batch, output), nil
}

// workOf is what a step computes.
func workOf(batch []engine.Chunk) (w cost.Work) {
	for i := range batch {
		c := &batch[i]
		n := len(c.Tokens)
		if c.Sampler != nil {
			w.Sampled++
		}
		if n-c.Drafts == 1 && c.Sampler != nil && c.Start > 0 {
			w.Decodes++
			w.DecodeTokens += n
			w.Context += c.Start
			continue
		}
		w.Prefills++
		w.PrefillTokens += n
		w.PrefillPairs += float64(n) * (float64(c.Start) + float64(n+1)/2)
		w.PrefillContext += c.Start
	}
	return w
}

// begin says how long a step takes that begins then, and how long answers are now.
func (t *Twin) begin(w *cost.Work, at time.Time) (d time.Duration, output float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.config.Cost.Step(w, &t.conditions)
	line := logLine(t.board)
	d = times(c.Step+line, 1, 1/(1-or(t.board.At(knob.GC, 0), 0)))
	t.load.Blocked += line
	t.step.set(c, at, d, w.Prefills+w.Decodes)
	t.load.Steps++
	return d, t.board.Value(knob.OutputTokens)
}

// end takes in what is left of the step.
func (t *Twin) end(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.step.charge(at, t)
}

// hang holds the loop as long as the knob says that a step does not end.
func (t *Twin) hang() {
	for t.hung() && sleep(tick, t.done) {
		t.pace.rest()
	}
}

func (t *Twin) hung() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	on := t.board.OnAt(knob.Hang, 0)
	t.step.hung = on
	return on
}

// sample makes up the tokens of a step.
func (t *Twin) sample(batch []engine.Chunk, output float64) []engine.Result {
	t.results, t.tokens = t.results[:0], t.tokens[:0]
	for i := range batch {
		var r engine.Result
		if s := batch[i].Sampler; s != nil {
			from := len(t.tokens)
			t.tokens = append(t.tokens, t.answers.next(s, output))
			r.Tokens = t.tokens[from:len(t.tokens):len(t.tokens)]
			if s.Logprobs { // a placeholder is certain
				r.Logprobs = []engine.Logprobs{certain(r.Tokens[0], s.TopLogprobs)}
			}
		}
		t.results = append(t.results, r)
	}
	return t.results
}

func certain(token, top int) engine.Logprobs {
	l := engine.Logprobs{Sampled: engine.TokenLogprob{ID: token}}
	if top > 0 {
		l.Top = []engine.TokenLogprob{l.Sampled}
	}
	return l
}

// progress is the step that is being computed, charged to GPUs and host as it goes on.
type progress struct {
	cost      cost.Cost
	idle      []time.Duration
	sequences int
	begin     time.Time
	takes     time.Duration
	charged   time.Time
	hung      bool
}

func (p *progress) set(c *cost.Cost, begin time.Time, takes time.Duration, sequences int) {
	idle := append(p.idle[:0], c.Idle...)
	*p = progress{cost: *c, idle: idle, sequences: sequences, begin: begin, charged: begin, takes: takes}
}

// charge takes in the part of the step since the last time; the caller holds mu.
func (p *progress) charge(now time.Time, t *Twin) {
	end := p.begin.Add(p.takes)
	if p.hung && now.After(end) { // its kernels wait for each other for ever
		for i := range t.loads {
			t.loads[i].Kernel += now.Sub(p.charged)
			t.loads[i].Idle += now.Sub(p.charged)
		}
		p.charged = now
		return
	}
	if now.After(end) {
		now = end
	}
	if p.takes <= 0 || !now.After(p.charged) {
		return
	}
	part := float64(now.Sub(p.charged)) / float64(p.takes)
	p.charged = now
	kernel := part * float64(p.cost.Kernel)
	for i := range t.loads {
		l, idle := &t.loads[i], 0.0
		if i < len(p.idle) {
			idle = part * float64(p.idle[i])
		}
		l.Kernel += time.Duration(kernel)
		l.Idle += time.Duration(idle)
		l.Tensor += time.Duration((kernel - idle) * p.cost.Tensor)
		l.FLOPs += part * p.cost.FLOPs
		l.Bytes += part * p.cost.Bytes
		l.LinkBytes += part * p.cost.LinkBytes
		l.PCIeBytes += part * p.cost.PCIeBytes
		l.Batch += kernel * float64(p.sequences)
	}
	t.load.Stepping += time.Duration(part * float64(p.takes))
	t.load.CPU[machine.Schedule] += time.Duration(part * float64(p.cost.CPU-p.cost.Compile))
	t.load.CPU[machine.Compile] += time.Duration(part * float64(p.cost.Compile))
}
