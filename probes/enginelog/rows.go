package enginelog

import "slices"

// row is a kind of line that an engine is known to print.
type row struct {
	kind    string // of probes.LogKinds
	dialect string // whose line it is, of probes.Dialects; "" when several print it

	// literal is looked for first, in the raw line: 8 bytes or more that stand in every
	// line of the row and survive JSON (no quotes but in front of a word, no \ < > &).
	literal string

	// pattern is what the message looks like from its beginning, once time, level and the
	// like are taken off (body). Its named groups are numbers, by their canonical names; a
	// group NAME_unit is the number's unit.
	pattern string

	scale scale // what a number is multiplied by, where its unit is fixed
	floor scale // numbers below which the line is not of the kind

	example string // written afresh, with invented values
	source  string // where the wording was seen
}

type scale map[string]float64

const (
	percent      = 0.01
	milliseconds = 1e-3
	kib          = 1 << 10
	gib          = 1 << 30
)

// num is a number in a pattern; thousands may be told apart by commas.
const num = `[0-9][0-9.,]*`

// slowStep is the step, in seconds, from which one counts as slow: a batch that size takes
// some ten milliseconds to decode and some hundred to prefill [proposal].
const slowStep = 1

// rows is every line that is known. Where a line is of two rows the first one has it.
func rows() []row {
	return slices.Concat(genericRows(), vllmRows(), sglangRows(), llamacppRows(), tgiRows(), trtllmRows())
}
