package model

import "unsafe"

// WeightBytes is the memory of the weights as they are held: for tensors computed
// from the mapped file the bytes of the file, which the system may share between
// processes and drop and read again.
func (m *Model) WeightBytes() int64 {
	n := m.embed.bytes() + floatBytes(m.lastNorm) + int64(len(m.frequency))*8
	if m.output != m.embed {
		n += m.output.bytes()
	}
	for i := range m.layers {
		l := &m.layers[i]
		for _, w := range []matrix{l.q, l.k, l.v, l.o, l.gate, l.up, l.down} {
			n += w.bytes()
		}
		n += floatBytes(l.attnNorm, l.ffnNorm, l.qb, l.kb, l.vb)
	}
	return n
}

func floatBytes(vectors ...[]float32) (n int64) {
	for _, v := range vectors {
		n += int64(len(v)) * 4
	}
	return n
}

// ActivationBytes is the most scratch memory that steps of up to that many rows (tokens)
// take, with sequences of up to context positions, when the logits of all rows are
// wanted; LogitBytes is the part of the logits. It holds for KV blocks of up to 64
// positions.
func ActivationBytes(c Config, rows, context, threads int) int64 {
	const longestBlock = 64
	n := int64(rows)
	queries, keys := int64(c.Heads)*int64(c.HeadDim), int64(c.KVHeads)*int64(c.HeadDim)
	floats := n * (2*int64(c.Dim) + queries + 2*keys + int64(c.FFN) + int64(c.RopeDim))
	floats += int64(threads) * int64(context+longestBlock)
	return floats*4 + LogitBytes(c, rows) + n*int64(unsafe.Sizeof(row{})) +
		inputBytes(n, int64(c.Dim)) + inputBytes(n, queries) + inputBytes(n, int64(c.FFN))
}

// LogitBytes is the memory of the logits of that many rows.
func LogitBytes(c Config, rows int) int64 { return int64(rows) * int64(c.Vocab) * 4 }

// inputBytes is the memory of activations: floats, the groups and up to three
// tokens that no group holds.
func inputBytes(rows, cols int64) int64 {
	blocks := (cols + blockLen - 1) / blockLen
	return rows*cols*4 + rows/group*blocks*int64(unsafe.Sizeof(block4{})) + min(rows, group-1)*blocks*int64(unsafe.Sizeof(block1{}))
}
