package record

import "math"

// vectorMask is which values of a scrape moved in the frame before.
type vectorMask struct {
	schema int
	bits   []byte
}

// vector writes the n values of a scrape that differ from their reference.
func (e *encoder) vector(values, ref []float64, id, n, position int) {
	modes := e.vectorModes(values, id, n)
	mask := make([]byte, (n+7)/8)
	for i := range n {
		if valueAt(values, i) != reference(values, ref, i) {
			mask[i/8] |= 1 << (i % 8)
		}
	}
	e.out = appendMaskTree(e.out, xorMask(&e.masks, position, id, mask))
	for i := range n {
		if mask[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		v := valueAt(values, i)
		modes.note(i, math.Float64frombits(v))
		e.out = appendFloat(e.out, number{bits: v}, number{bits: reference(values, ref, i)}, modes.modes[i])
	}
}

func (e *encoder) vectorModes(values []float64, id, n int) *modeTable {
	t := e.modes[id]
	if t == nil {
		t = newModeTable(n)
		e.modes[id] = t
		for i, v := range values[:min(n, len(values))] {
			t.note(i, v)
		}
	}
	if !e.fresh[id] {
		e.fresh[id] = true
		t.choose()
		e.out = appendModes(e.out, t.modes)
	}
	return t
}

// reference is the bits of what value i is written against: the value of the frame
// before, or without one the value beside it (buckets of a histogram are much alike).
func reference(values, ref []float64, i int) uint64 {
	switch {
	case ref != nil:
		return valueAt(ref, i)
	case i > 0:
		return valueAt(values, i-1)
	}
	return 0
}

// valueAt is the bits of value i, those of 0 beyond the end.
func valueAt(values []float64, i int) uint64 {
	if i >= len(values) {
		return 0
	}
	return math.Float64bits(values[i])
}

// xorMask returns mask XOR the mask of the frame before at this position (if it
// is of the same schema), and keeps mask for the next.
func xorMask(masks *[]vectorMask, position, schema int, mask []byte) []byte {
	for len(*masks) <= position {
		*masks = append(*masks, vectorMask{})
	}
	m := &(*masks)[position]
	x := append([]byte(nil), mask...)
	if m.schema == schema && len(m.bits) == len(mask) {
		for i := range x {
			x[i] ^= m.bits[i]
		}
	}
	m.schema, m.bits = schema, mask
	return x
}

// vector reads values against old, nil when there is no scrape of the schema to refer to.
func (d *decoder) vector(values, old []float64, id, position int) {
	modes := d.modesOf(id, len(values))
	mask := make([]byte, (len(values)+7)/8)
	d.maskTree(mask)
	d.unxor(mask, id, position)
	for i := range values {
		ref := reference(values, old, i)
		if mask[i/8]&(1<<(i%8)) == 0 {
			values[i] = math.Float64frombits(ref)
			continue
		}
		n := d.float(number{bits: ref}, modes[i])
		if d.err != nil {
			return
		}
		values[i] = math.Float64frombits(n.bits)
	}
}

// unxor turns a mask that was XORed with the one before into itself.
func (d *decoder) unxor(mask []byte, id, position int) {
	for len(d.masks) <= position {
		d.masks = append(d.masks, vectorMask{})
	}
	m := &d.masks[position]
	if m.schema == id && len(m.bits) == len(mask) {
		for i := range mask {
			mask[i] ^= m.bits[i]
		}
	}
	m.schema, m.bits = id, mask
}
