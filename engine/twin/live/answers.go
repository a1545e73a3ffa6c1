package live

import (
	"math"
	"math/rand/v2"

	"llmtop/engine"
)

// Lengths is how long answers are that end by themselves, in tokens: lognormal.
type Lengths struct {
	Median float64
	Sigma  float64 // of the logarithm
}

// answers remembers how far the answers are that are being given, each by its sampler.
type answers struct {
	lengths Lengths
	draw    *rand.Rand
	step    int
	open    map[*engine.Sampler]*answer
}

// answer is one of them.
type answer struct {
	given, length int
	step          int // that it last got a token in
}

// forgotten is for how many steps nothing may come for an answer until it is forgotten: its
// client has gone, or it waits for its blocks and will be as long as chance then has it.
const forgotten = 1 << 14

func newAnswers(l Lengths, seed uint64) *answers {
	return &answers{lengths: l, draw: rand.New(rand.NewPCG(seed, 0x616e73776572)), open: map[*engine.Sampler]*answer{}}
}

// next is the next token of an answer; factor stretches the answers that begin.
func (a *answers) next(s *engine.Sampler, factor float64) int {
	o := a.open[s]
	if o == nil {
		length := a.lengths.Median * math.Exp(a.draw.NormFloat64()*a.lengths.Sigma) * factor
		o = &answer{length: max(1, int(min(length, 1<<20)))}
		a.open[s] = o
	}
	o.step = a.step
	if o.given++; o.given > o.length {
		delete(a.open, s)
		return endTurn
	}
	return word(o.given - 1)
}

// stepped begins a new step, and now and then forgets answers that nobody waits for.
func (a *answers) stepped() {
	if a.step++; a.step%forgotten != 0 {
		return
	}
	for s, o := range a.open {
		if a.step-o.step > forgotten {
			delete(a.open, s)
		}
	}
}
