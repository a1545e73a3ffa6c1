package model

// blockMatrix computes with a tensor of blocks of integers and scales.
type blockMatrix struct {
	tensor
	blocks int // of 32 weights in a row
}

// spanBlocks is the number of blocks unpacked at a time.
const spanBlocks = span / blockLen

func (m *blockMatrix) shape() (rows, cols int) { return m.rows, m.cols }
func (m *blockMatrix) quantised() bool         { return true }
func (m *blockMatrix) bytes() int64            { return int64(len(m.data)) }

func (m *blockMatrix) copyRow(i int, into []float32) {
	var w [spanBlocks]weights32
	for b := 0; b < m.blocks; b += spanBlocks {
		n := min(spanBlocks, m.blocks-b)
		m.unpack(i, b, w[:n])
		for j := range n {
			m.values(&w[j], (*[blockLen]float32)(into[(b+j)*blockLen:]))
		}
	}
}

// unpack reads blocks of row i from block b. A row of a K-type is whole super-blocks.
func (m *blockMatrix) unpack(i, b int, into []weights32) {
	first := i*m.blocks + b
	switch m.typ {
	case tensorQ8_0:
		unpackQ8(m.data[34*first:], into)
	case tensorQ4_0:
		unpackQ4(m.data[18*first:], into)
	case tensorQ4_K:
		unpackQ4K((*[144]byte)(m.data[144*(first/spanBlocks):]), (*[spanBlocks]weights32)(into))
	case tensorQ5_K:
		unpackQ5K((*[176]byte)(m.data[176*(first/spanBlocks):]), (*[spanBlocks]weights32)(into))
	case tensorQ6_K:
		unpackQ6K((*[210]byte)(m.data[210*(first/spanBlocks):]), (*[spanBlocks]weights32)(into))
	}
}

// values is the weights of a block as floats.
func (m *blockMatrix) values(w *weights32, into *[blockLen]float32) {
	for k := range into {
		q := int(w.word[k/8] >> (k % 8 * 8) & 255)
		switch m.typ {
		case tensorQ4_K, tensorQ5_K:
			into[k] = w.scale*float32(q) - w.other
		case tensorQ6_K:
			into[k] = [2]float32{w.scale, w.other}[k/16] * float32(q-bias6)
		default:
			into[k] = w.scale * float32(q-bias8)
		}
	}
}

func (m *blockMatrix) mul(in *activations, out []float32, lo, hi int) {
	if in.grouped() == 0 {
		m.mulFile(in, out, lo, hi)
		return
	}
	var rows [tile][spanBlocks]weights32
	clearRows(out, m.rows, in.n, lo, hi)
	for ; lo < hi; lo += tile {
		end := min(lo+tile, hi)
		for b := 0; b < m.blocks; b += spanBlocks {
			n := min(spanBlocks, m.blocks-b)
			for r := lo; r < end; r++ {
				m.unpack(r, b, rows[r-lo][:n])
			}
			m.mulTile(rows[:end-lo], in, b, n, out[lo:])
		}
	}
}

// mulFile is mul for fewer tokens than a group.
func (m *blockMatrix) mulFile(in *activations, out []float32, lo, hi int) {
	size := len(m.data) / m.rows
	for t := range in.n {
		x, o := in.singles[t*m.blocks:(t+1)*m.blocks], out[t*m.rows:]
		for r := lo; r < hi; r++ {
			o[r] = fileRow(m.typ, m.data[r*size:(r+1)*size], x)
		}
	}
}

// fileRow is the product of one row as it lies in the file and a token.
func fileRow(typ uint32, row []byte, x []block1) float32 {
	switch typ {
	case tensorQ8_0:
		return fileQ8(row, x)
	case tensorQ4_0:
		return fileQ4(row, x)
	case tensorQ4_K:
		return fileQ4K(row, x)
	case tensorQ5_K:
		return fileQ5K(row, x)
	default:
		return fileQ6K(row, x)
	}
}

// mulTile adds the products with n blocks from block b. out begins at the first row.
func (m *blockMatrix) mulTile(rows [][spanBlocks]weights32, in *activations, b, n int, out []float32) {
	for g := range in.grouped() / group {
		at := g*m.blocks + b
		m.mulGroup(rows, in.groups[at:at+n], out[g*group*m.rows:])
	}
	for t := range in.n % group {
		at := t*m.blocks + b
		m.mulToken(rows, in.singles[at:at+n], out[(in.grouped()+t)*m.rows:])
	}
}

// mulGroup adds the products with one group of tokens.
func (m *blockMatrix) mulGroup(rows [][spanBlocks]weights32, x []block4, out []float32) {
	o0, o1, o2, o3 := out, out[m.rows:], out[2*m.rows:], out[3*m.rows:]
	for r := range rows {
		w, s0, s1, s2, s3 := rows[r][:len(x)], o0[r], o1[r], o2[r], o3[r]
		switch m.typ {
		case tensorQ4_K, tensorQ5_K:
			s0, s1, s2, s3 = dotMinTokens4(w, x, s0, s1, s2, s3)
		case tensorQ6_K:
			s0, s1, s2, s3 = dotHalvesTokens4(w, x, s0, s1, s2, s3)
		default:
			s0, s1, s2, s3 = dotQ8Tokens4(w, x, s0, s1, s2, s3)
		}
		o0[r], o1[r], o2[r], o3[r] = s0, s1, s2, s3
	}
}

// mulToken adds the products with one token, two rows at a time. A last odd row goes
// together with itself.
func (m *blockMatrix) mulToken(rows [][spanBlocks]weights32, x []block1, out []float32) {
	for r := 0; r < len(rows); r += 2 {
		last := min(r+1, len(rows)-1)
		w, u := rows[r][:len(x)], rows[last][:len(x)]
		switch m.typ {
		case tensorQ4_K, tensorQ5_K:
			out[r], out[last] = dotMinRows2(w, u, x, out[r], out[last])
		case tensorQ6_K:
			out[r], out[last] = dotHalvesRows2(w, u, x, out[r], out[last])
		default:
			out[r], out[last] = dotQ8Rows2(w, u, x, out[r], out[last])
		}
	}
}
