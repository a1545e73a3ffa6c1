package engine

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Sampler picks the next token of one sequence from its logits. The same seed and
// the same logits give the same tokens. It is not safe for concurrent use. The
// exported fields are set before its first use.
type Sampler struct {
	MinP        float64 // tokens less likely than this share of the likeliest one are not drawn; 0: all are
	TopK        int     // only the so many likeliest are drawn from; 0: all
	Logprobs    bool    // AppendLogprobs is wanted
	TopLogprobs int     // how many of the likeliest tokens it names

	temperature, topP float64
	rng               *rand.Rand
	candidates        []candidate // scratch
}

// candidate is a token and how likely it is, on whatever scale.
type candidate struct {
	id int
	p  float64
}

// NewSampler returns a sampler. Temperature 0 is greedy; topP is the share of the
// probability, 0–1, that the likeliest tokens together must reach to be drawn from.
func NewSampler(temperature, topP float64, seed uint64) *Sampler {
	return &Sampler{temperature: temperature, topP: topP, rng: rand.New(rand.NewPCG(seed, 0x6c6c6d746f70))}
}

// Sample returns the index of the chosen logit. Greedy ties go to the lower index.
// The order is vLLM's: temperature, min_p, top_k, top_p of what is left.
func (s *Sampler) Sample(logits []float32) int {
	best := argmax(logits)
	if s.temperature <= 0 {
		return best
	}
	total := s.weigh(logits, float64(logits[best]))
	if s.TopK > 0 && s.TopK < len(s.candidates) {
		total = s.head()
	}
	if s.topP < 1 {
		total = s.cut(total)
	}
	return s.draw(total*s.rng.Float64(), best)
}

// weigh fills the candidates with unnormalised probabilities, the likeliest one's
// is 1, and returns their sum.
func (s *Sampler) weigh(logits []float32, highest float64) (total float64) {
	s.candidates = s.candidates[:0]
	for id, l := range logits {
		p := math.Exp((float64(l) - highest) / s.temperature)
		if p > 0 && p >= s.MinP { // neither underflow nor NaN
			s.candidates = append(s.candidates, candidate{id, p})
			total += p
		}
	}
	return total
}

// head keeps the TopK likeliest candidates and returns their sum.
func (s *Sampler) head() (total float64) {
	s.candidates = likeliest(s.candidates, s.TopK)
	for _, c := range s.candidates {
		total += c.p
	}
	return total
}

// cut keeps the smallest set of likeliest candidates that reaches topP, and
// returns its sum. What is below (1-topP)/n alone can never be in it, so it need not be sorted.
func (s *Sampler) cut(total float64) (kept float64) {
	floor := total * (1 - s.topP) / float64(len(s.candidates))
	s.candidates = slices.DeleteFunc(s.candidates, func(c candidate) bool { return c.p < floor })
	slices.SortFunc(s.candidates, byLikelihood)
	for i, c := range s.candidates {
		if kept += c.p; kept >= s.topP*total {
			s.candidates = s.candidates[:i+1]
			break
		}
	}
	return kept
}

func (s *Sampler) draw(at float64, fallback int) int {
	for _, c := range s.candidates {
		if at -= c.p; at < 0 {
			return c.id
		}
	}
	return fallback // rounding
}

// byLikelihood orders the likeliest first; of two alike the lower index.
func byLikelihood(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.p, a.p), cmp.Compare(a.id, b.id))
}

// likeliest returns the n likeliest candidates in order. It works in place: the
// answer grows over what has been read.
func likeliest(all []candidate, n int) []candidate {
	top := all[:0]
	for _, c := range all {
		if len(top) == n && byLikelihood(c, top[n-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, c, byLikelihood)
		if len(top) < n {
			top = append(top, candidate{})
		}
		copy(top[at+1:], top[at:])
		top[at] = c
	}
	return top
}

func argmax(logits []float32) int {
	best := 0
	for i, l := range logits {
		if l > logits[best] || (logits[best] != logits[best] && l == l) { // any number is above NaN
			best = i
		}
	}
	return best
}
