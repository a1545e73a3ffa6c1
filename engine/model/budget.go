package model

// WeightBytes is the memory that the loaded weights take.
func (m *Model) WeightBytes() int64 {
	var bytes int64
	for _, l := range m.layers {
		bytes += 4 * int64(len(l.attnNorm)+len(l.ffnNorm))
	}
	return bytes + m.config.FileBytes
}

// ActivationBytes is the scratch space of a step of that many rows (tokens), for
// sequences of up to context tokens, on that many threads: an upper bound, as if
// the logits of every row were wanted.
func ActivationBytes(c Config, rows, context, threads int) int64 {
	const quantised = 4 + 4.5 // a float32, and a lane of 32 bits with its share of offset and scale
	queries, keys := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	row := 4*(2*c.Dim+queries+2*keys+c.FFN+c.RopeDim+c.Vocab) + int(quantised*float64(c.Dim+queries+c.FFN))
	return int64(rows)*int64(row) + int64(threads)*int64(context)*4
}
