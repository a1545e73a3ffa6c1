package model

import "fmt"

// Chunk is the part of one sequence that a step computes: a whole prompt, a piece
// of one, or the one token a decode step adds.
type Chunk struct {
	Tokens []int
	Start  int   // position of Tokens[0] in its sequence; those before are in the KV cache
	Blocks []int // KV blocks of positions 0 to Start+len(Tokens)-1, in order
	Logits int   // how many of the last tokens' logits are wanted; 0: none
}

// row is one token of the step.
type row struct {
	token, position int
	blocks          []int
	logits          bool
}

// check refuses a chunk that would read or write outside the model or the pool.
func (c *Chunk) check(m *Config, pool *KVPool) error {
	if len(c.Tokens) == 0 {
		return fmt.Errorf("no tokens")
	}
	if c.Start < 0 || c.Start > m.Context-len(c.Tokens) {
		return fmt.Errorf("positions %d to %d are outside the context of %d", c.Start, c.Start+len(c.Tokens)-1, m.Context)
	}
	if c.Logits < 0 || c.Logits > len(c.Tokens) {
		return fmt.Errorf("the logits after %d of %d tokens are wanted", c.Logits, len(c.Tokens))
	}
	end := c.Start + len(c.Tokens)
	need := (end + pool.blockSize - 1) / pool.blockSize
	if len(c.Blocks) < need {
		return fmt.Errorf("%d blocks of %d do not hold %d positions", len(c.Blocks), pool.blockSize, end)
	}
	for _, b := range c.Blocks[:need] {
		if b < 0 || b >= pool.blocks {
			return fmt.Errorf("block %d is not in the pool of %d", b, pool.blocks)
		}
	}
	for _, t := range c.Tokens {
		if t < 0 || t >= m.Vocab {
			return fmt.Errorf("token %d is not in the vocabulary of %d", t, m.Vocab)
		}
	}
	return nil
}
