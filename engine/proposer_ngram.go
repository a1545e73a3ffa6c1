package engine

// The longest and the shortest run of tokens that is looked for: a shorter one has
// been said before in most texts and tells little (vLLM's prompt_lookup_max and
// prompt_lookup_min bound the same).
const (
	maxNgram = 4
	minNgram = 2
)

// ngramProposer guesses from the sequence itself (prompt lookup decoding, Saxena
// 2023): where its last few tokens stand earlier in it, it will go on as it did
// there. It costs no model and pays when an answer repeats its prompt or itself.
type ngramProposer struct {
	tokens  []int // scratch
	guesses [][]int
}

// Propose looks up the items that have room for guesses, each in time proportional to its length.
func (p *ngramProposer) Propose(items []Item) ([][]int, error) {
	p.guesses = renew(p.guesses, len(items))
	for n, i := range items {
		if i.Drafts < 1 {
			continue
		}
		p.tokens = i.Seq.tokens(p.tokens[:0], 0, i.Seq.Len())
		p.guesses[n] = repeat(p.guesses[n], p.tokens, i.Drafts)
	}
	return p.guesses, nil
}

// Forget does nothing: nothing is kept.
func (p *ngramProposer) Forget(*Sequence) {}

// repeat appends n guesses for how the tokens go on, or none. They may run over the
// end into the guesses before them: what repeats itself is taken to go on so.
func repeat(guesses, tokens []int, n int) []int {
	from := followed(tokens)
	if from == 0 {
		return guesses
	}
	for at := from; len(guesses) < n; at++ {
		if at < len(tokens) {
			guesses = append(guesses, tokens[at])
		} else {
			guesses = append(guesses, guesses[at-len(tokens)])
		}
	}
	return guesses
}

// followed is the position after the latest of the longest earlier runs that end
// as the tokens do; 0: there is none of minNgram.
func followed(tokens []int) (position int) {
	longest := minNgram - 1
	for end := len(tokens) - 1; end > longest && longest < maxNgram; end-- {
		run := 0
		for run < min(maxNgram, end) && tokens[end-1-run] == tokens[len(tokens)-1-run] {
			run++
		}
		if run > longest {
			longest, position = run, end
		}
	}
	return position
}

// renew empties n slices of guesses, keeping their space.
func renew(guesses [][]int, n int) [][]int {
	for len(guesses) < n {
		guesses = append(guesses, nil)
	}
	guesses = guesses[:n]
	for i := range guesses {
		guesses[i] = guesses[i][:0]
	}
	return guesses
}
