package twin

import "llmtop/engine/twin/workload"

// vocabulary is the number of different tokens: about that of today's models, a power of two.
const vocabulary = 1 << 17

// stride is the step of SplitMix64.
const stride uint64 = 0x9e3779b97f4a7c15

// mix scrambles a number; close ones come out unrelated (the finish of SplitMix64, Steele et al. 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit is a number in [0, 1) from a scrambled one.
func unit(x uint64) float64 { return float64(x>>11) / (1 << 53) }

// stream yields tokens, the same ones from the same state.
type stream uint64

func (s *stream) token() int {
	*s += stream(stride)
	x := uint64(*s)
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return int(x >> 47)
}

// segment is the tokens that are the same wherever an id is.
func segment(id uint64) stream { return stream(mix(id + 1)) }

// after is what follows the first n tokens.
func (s stream) after(n int) stream { return s + stream(uint64(n)*stride) }

// appendPrompt appends the tokens of a prompt: what it shares with others is the same
// wherever the segment's id is, the rest is its own.
func appendPrompt(to []int, length int, prefix []workload.Segment, own *stream) []int {
	end := len(to) + length
	for _, p := range prefix {
		shared := segment(p.ID)
		for range min(p.Tokens, end-len(to)) {
			to = append(to, shared.token())
		}
	}
	for len(to) < end {
		to = append(to, own.token())
	}
	return to
}
