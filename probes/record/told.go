package record

import "unsafe"

// What a number is told from.

// told is the predictor that decides where a distance begins: byBefore when that is m
// of the reference.
func (c *column) told(key, dense bool) uint8 {
	if key || !dense || c.by != bySum && c.by != byMean && c.by != byShare && c.by != byZero {
		return byBefore
	}
	return c.by
}

// base is m of a reference, 0 when it is absent or has none.
func (s *slot) base(r number, mode uint8) int64 {
	if s.class.isFloat() {
		return toMode(r.float(), mode)
	}
	return int64(r.float())
}

// base is what a number of v that is not told from its reference begins with.
func (t *table) base(s *slot, v unsafe.Pointer, by, mode uint8) int64 {
	switch by {
	case bySum:
		return t.sumOf(s, v, mode)
	case byShare:
		return t.with(s, v)
	}
	return 0
}

// kept is m of a column in the row under way, so that it is not worked out again.
type kept struct {
	m   int64
	row uint32
}

func (t *table) keep(i int, m int64, k class) {
	if !t.plan.told {
		return
	}
	if t.kept == nil {
		t.kept = make([]kept, len(t.columns))
	}
	if k.isFloat() && fitsMode(m) {
		t.kept[i] = kept{m, t.row}
	}
}

// mOf is m of slot i of v in a mode.
func (t *table) mOf(i int, v unsafe.Pointer, mode uint8) int64 {
	if i < len(t.kept) && t.kept[i].row == t.row && t.columns[i].mode == mode {
		return t.kept[i].m
	}
	return t.plan.slots[i].base(t.plan.slots[i].number(v), mode)
}

// with is m of the field beside which s is written, in that column's mode.
func (t *table) with(s *slot, v unsafe.Pointer) int64 {
	if s.with < 0 {
		return 0
	}
	return t.mOf(s.with, v, t.columns[s.with].mode)
}

// sumOf is the sum of the fields of which s is about the sum, in a mode.
func (t *table) sumOf(s *slot, v unsafe.Pointer, mode uint8) int64 {
	var sum int64
	for _, i := range s.sum {
		sum += t.mOf(i, v, mode)
	}
	return sum
}
