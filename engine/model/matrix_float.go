package model

import (
	"encoding/binary"
	"math"
)

// floatMatrix computes with an F32, F16 or BF16 tensor.
type floatMatrix struct{ tensor }

func (m *floatMatrix) shape() (rows, cols int) { return m.rows, m.cols }
func (m *floatMatrix) quantised() bool         { return false }
func (m *floatMatrix) bytes() int64            { return int64(len(m.data)) }

func (m *floatMatrix) copyRow(i int, into []float32) { m.part(i, 0, into[:m.cols]) }

// part widens the weights of row i from column col.
func (m *floatMatrix) part(i, col int, into []float32) {
	size := kindOf(m.typ).bytes
	at := (i*m.cols + col) * size
	widen(m.typ, m.data[at:at+len(into)*size], into)
}

// widen gives the numbers of one of the float types, as many as into holds.
func widen(typ uint32, data []byte, into []float32) {
	n := len(into) &^ 3
	switch typ {
	case tensorF32:
		for i := 0; i < n; i += 4 {
			raw, four := (*[16]byte)(data[4*i:]), (*[4]float32)(into[i:])
			for j := range four {
				four[j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*j:]))
			}
		}
		for i := n; i < len(into); i++ {
			into[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
	case tensorBF16:
		for i := 0; i < n; i += 4 {
			v, four := binary.LittleEndian.Uint64(data[2*i:]), (*[4]float32)(into[i:])
			four[0], four[1] = brain(uint16(v)), brain(uint16(v>>16))
			four[2], four[3] = brain(uint16(v>>32)), brain(uint16(v>>48))
		}
		for i := n; i < len(into); i++ {
			into[i] = brain(binary.LittleEndian.Uint16(data[2*i:]))
		}
	default:
		for i := 0; i < n; i += 4 {
			v, four := binary.LittleEndian.Uint64(data[2*i:]), (*[4]float32)(into[i:])
			four[0], four[1] = finiteHalf(uint16(v)), finiteHalf(uint16(v>>16))
			four[2], four[3] = finiteHalf(uint16(v>>32)), finiteHalf(uint16(v>>48))
		}
		for i := n; i < len(into); i++ {
			into[i] = finiteHalf(binary.LittleEndian.Uint16(data[2*i:]))
		}
	}
}

// floatTile is the number of rows widened at a time, 8 KiB of them.
const floatTile = 8

func (m *floatMatrix) mul(in *activations, out []float32, lo, hi int) {
	if m.typ == tensorF32 && in.n == 1 && m.cols%4 == 0 {
		for ; lo+4 <= hi; lo += 4 {
			fileF32Rows4(m.data[4*lo*m.cols:], in.row(0), (*[4]float32)(out[lo:]))
		}
	}
	var rows [floatTile][span]float32
	clearRows(out, m.rows, in.n, lo, hi)
	for ; lo < hi; lo += floatTile {
		end := min(lo+floatTile, hi)
		for col := 0; col < m.cols; col += span {
			n := min(span, m.cols-col)
			for r := lo; r < end; r++ {
				m.part(r, col, rows[r-lo][:n])
			}
			m.mulTile(rows[:end-lo], in, col, n, out[lo:])
		}
	}
}

// mulTile adds the products with n columns from col. out begins at the first row.
func (m *floatMatrix) mulTile(rows [][span]float32, in *activations, col, n int, out []float32) {
	t := 0
	for ; t+1 < in.n; t += 2 {
		x, y := in.row(t)[col:col+n], in.row(t + 1)[col:col+n]
		o, p := out[t*m.rows:], out[(t+1)*m.rows:]
		r := 0
		for ; r+3 < len(rows); r += 4 {
			dotF32Rows4Tokens2((*[4][span]float32)(rows[r:]), x, y, (*[4]float32)(o[r:]), (*[4]float32)(p[r:]))
		}
		for ; r < len(rows); r++ {
			o[r], p[r] = dotF32(&rows[r], x, o[r]), dotF32(&rows[r], y, p[r])
		}
	}
	if t < in.n {
		m.mulToken(rows, in.row(t)[col:col+n], out[t*m.rows:])
	}
}

// mulToken is mulTile for one token.
func (m *floatMatrix) mulToken(rows [][span]float32, x, out []float32) {
	r := 0
	for ; r+3 < len(rows); r += 4 {
		dotF32Rows4((*[4][span]float32)(rows[r:]), x, (*[4]float32)(out[r:]))
	}
	for ; r < len(rows); r++ {
		out[r] = dotF32(&rows[r], x, out[r])
	}
}
