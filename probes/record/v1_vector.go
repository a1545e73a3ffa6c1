package record

import "math"

// vector reads values against old, nil when there is no scrape of the schema to refer to.
func (d *v1Decoder) vector(values, old []float64, id, position int) {
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
func (d *v1Decoder) unxor(mask []byte, id, position int) {
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
