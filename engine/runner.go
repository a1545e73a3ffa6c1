package engine

// Runner computes steps: the forward pass of a model, or a model of one. Calls
// come from one goroutine, the engine's loop.
type Runner interface {
	// Shape tells the sizes that bound requests.
	Shape() Shape
	// Run computes the chunks of one step and returns one token for each: the next
	// token of those with a Sampler, anything for the others. The result is valid
	// until the next call. After an error the requests of the step end with it.
	Run(batch []Chunk) ([]int, error)
}

// Shape is what the engine must know of a model.
type Shape struct {
	Context int // most tokens of a sequence, prompt and output
	Vocab   int // token ids are 0…Vocab-1
}

// Chunk is a run of consecutive tokens of one sequence to compute.
type Chunk struct {
	Tokens  []int    // at positions Start, Start+1, …
	Start   int      // number of tokens of this sequence in the cache already
	Blocks  []int    // block table: position p is in slot p%blockSize of block Blocks[p/blockSize]
	Sampler *Sampler // picks the next token after the last one; nil: not wanted
}
