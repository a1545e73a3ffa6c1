package model

import "encoding/binary"

// q8Matrix holds Q8_0 blocks row by row.
type q8Matrix struct {
	rows, cols int
	blocks     []weights32
}

// newQ8 unpacks a Q8_0 tensor (blocks of a float16 scale and 32 signed bytes) or a
// Q4_0 tensor (a float16 scale and 16 bytes of two weights each).
func newQ8(t tensor) *q8Matrix {
	n := t.rows * (t.cols / blockLen)
	m := &q8Matrix{t.rows, t.cols, make([]weights32, n)}
	size := len(t.data) / n
	for i := range m.blocks {
		block, data := &m.blocks[i], t.data[i*size:(i+1)*size]
		block.scale = half(binary.LittleEndian.Uint16(data))
		if t.typ == tensorQ4_0 {
			block.unpackQ4(data[2:])
			continue
		}
		for j := range block.word {
			block.word[j] = binary.LittleEndian.Uint64(data[2+8*j:]) ^ 0x8080808080808080 // two's complement to plus 128
		}
	}
	return m
}

// unpackQ4 reads 16 bytes: byte i holds weight i in its low nibble and weight i+16
// in its high one, both plus 8.
func (w *weights32) unpackQ4(nibbles []byte) {
	for i, v := range nibbles[:16] {
		shift := i % 8 * 8
		w.word[i/8] |= (uint64(v&15) + 120) << shift
		w.word[i/8+2] |= (uint64(v>>4) + 120) << shift
	}
}

func (m *q8Matrix) shape() (rows, cols int) { return m.rows, m.cols }
func (m *q8Matrix) quantised() bool         { return true }

// row is the blocks of one row.
func (m *q8Matrix) row(i int) []weights32 {
	n := m.cols / blockLen
	return m.blocks[i*n : (i+1)*n]
}

func (m *q8Matrix) copyRow(i int, into []float32) {
	for b, block := range m.row(i) {
		for k := range blockLen {
			into[b*blockLen+k] = block.scale * float32(int(block.word[k/8]>>(k%8*8)&255)-128)
		}
	}
}

func (m *q8Matrix) mul(in *activations, out []float32, lo, hi int) {
	n := m.cols / blockLen
	for ; lo < hi; lo += tile {
		end := min(lo+tile, hi)
		for g := range in.grouped() / group {
			m.mulGroup(in.groups[g*n:(g+1)*n], out[g*group*m.rows:], lo, end)
		}
		for t := range in.n % group {
			m.mulToken(in.singles[t*n:(t+1)*n], out[(in.grouped()+t)*m.rows:], lo, end)
		}
	}
}

// mulGroup computes rows lo to hi for one group of tokens.
func (m *q8Matrix) mulGroup(x []block4, out []float32, lo, hi int) {
	o0, o1, o2, o3 := out[:m.rows], out[m.rows:2*m.rows], out[2*m.rows:3*m.rows], out[3*m.rows:4*m.rows]
	for r := lo; r < hi; r++ {
		o0[r], o1[r], o2[r], o3[r] = dotQ8Tokens4(m.row(r), x)
	}
}

// mulToken computes rows lo to hi for one token.
func (m *q8Matrix) mulToken(x []block1, out []float32, lo, hi int) {
	for ; lo+1 < hi; lo += 2 {
		out[lo], out[lo+1] = dotQ8Rows2(m.row(lo), m.row(lo+1), x)
	}
	if lo < hi {
		out[lo] = dotQ8(m.row(lo), x)
	}
}
