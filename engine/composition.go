package engine

// work is what a step does for a sequence.
type work int

const (
	prefilling work = iota
	decoding
	numWork
)

var workNames = [numWork]string{"prefill", "decode"}

// composition is how many sequences and tokens of a step are for what.
type composition struct{ sequences, tokens [numWork]int }

// compositionOf looks at a step before its tokens are computed.
func compositionOf(s Step) (c composition) {
	for _, i := range s.Items {
		w := prefilling
		if i.Seq.decoding() {
			w = decoding
		}
		c.sequences[w]++
		c.tokens[w] += i.Tokens
	}
	return c
}

// The kinds of steps.
const (
	kindPrefill = "prefill"
	kindDecode  = "decode"
	kindMixed   = "mixed"
)

func (c composition) kind() string {
	switch {
	case c.sequences[decoding] == 0:
		return kindPrefill
	case c.sequences[prefilling] == 0:
		return kindDecode
	}
	return kindMixed
}
