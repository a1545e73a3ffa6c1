package engine

import "math"

// TokenLogprob is a token and the natural logarithm of its probability.
type TokenLogprob struct {
	ID      int
	Logprob float32 // at least minLogprob
}

// Logprobs are the log-probabilities at one position of an answer. They are the
// model's own: the log-softmax of its logits, before temperature and whatever else
// changes what is drawn.
type Logprobs struct {
	Sampled TokenLogprob
	Top     []TokenLogprob // the likeliest tokens, the likeliest first
}

// minLogprob stands for a probability of zero, which JSON cannot say the logarithm of (vLLM's value).
const minLogprob = -9999

// AppendLogprobs appends those of a token that was sampled from these logits; it
// appends nothing when they are not wanted. What it appends refers to no scratch.
func (s *Sampler) AppendLogprobs(dst []Logprobs, logits []float32, token int) []Logprobs {
	if !s.Logprobs {
		return dst
	}
	norm := logSumExp(logits)
	of := func(id int) TokenLogprob { return TokenLogprob{id, logprob(logits[id], norm)} }
	l := Logprobs{Sampled: of(token)}
	if n := min(s.TopLogprobs, len(logits)); n > 0 {
		s.candidates = s.candidates[:0]
		for id, x := range logits {
			s.candidates = append(s.candidates, candidate{id, float64(x)})
		}
		l.Top = make([]TokenLogprob, 0, n)
		for _, c := range likeliest(s.candidates, n) {
			l.Top = append(l.Top, of(c.id))
		}
	}
	return append(dst, l)
}

// logSumExp is the logarithm of the sum of the exponentials of what is a number.
func logSumExp(logits []float32) float64 {
	highest, sum := float64(logits[argmax(logits)]), 0.0
	for _, l := range logits {
		if e := math.Exp(float64(l) - highest); e == e {
			sum += e
		}
	}
	return highest + math.Log(sum)
}

// logprob is a logit's, as JSON can say it: of what is no number it is minLogprob.
func logprob(logit float32, norm float64) float32 {
	if l := float64(logit) - norm; l > minLogprob {
		return float32(min(l, 0)) // rounding
	}
	return minLogprob
}
