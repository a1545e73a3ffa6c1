package engine

// Runner computes steps: the forward pass of a model, or a model of one. Calls
// come from one goroutine, the engine's loop.
type Runner interface {
	// Shape tells the sizes that bound requests.
	Shape() Shape
	// Run computes the chunks of one step and returns one result for each. The
	// results are valid until the next call. After an error the requests of the
	// step end with it.
	Run(batch []Chunk) ([]Result, error)
}

// Shape is what the engine must know of a model.
type Shape struct {
	Context int // most tokens of a sequence, prompt and output
	Vocab   int // token ids are 0…Vocab-1
}

// Chunk is a run of consecutive tokens of one sequence to compute.
type Chunk struct {
	Tokens  []int    // at positions Start, Start+1, …
	Drafts  int      // how many of the last Tokens are guesses, to be held against what the Sampler picks
	Start   int      // number of tokens of this sequence in the cache already
	Blocks  []int    // block table: position p is in slot p%blockSize of block Blocks[p/blockSize]
	Sampler *Sampler // picks the next token after the last one; nil: not wanted
}

// Result is what comes of one chunk.
type Result struct {
	// Tokens are those that the Sampler has picked: the guesses that it picks as
	// well, from the first one on, and the token after them, so 1…Drafts+1 of them.
	// None without a Sampler.
	Tokens []int
	// Logprobs has one entry for each of Tokens when the Sampler wants them, else
	// none. What an entry refers to stays as it is after the next call.
	Logprobs []Logprobs
	// Err says why there is no token after Tokens. It concerns this sequence alone, which ends with it.
	Err error
}

// held is how many guesses were what the Sampler picked.
func (r Result) held() int {
	if r.Err != nil {
		return len(r.Tokens)
	}
	return max(0, len(r.Tokens)-1)
}

// logprobs are those of the nth token; nil: there are none.
func (r *Result) logprobs(n int) *Logprobs {
	if n >= len(r.Logprobs) {
		return nil
	}
	l := r.Logprobs[n]
	return &l
}
