package record

import (
	"math"
)

// values is room for the n values of a page. Pages share allocations of a few: a sample
// that is kept keeps little more than itself.
func (d *decoder) values(n int) []float64 {
	const shared = 4
	if n > len(d.slab) {
		d.slab = make([]float64, shared*n)
		if n > 4096 {
			d.slab = make([]float64, n)
		}
	}
	v := d.slab[:n:n]
	d.slab = d.slab[n:]
	return v
}

// page reads the values of a scrape, against old or without.
func (d *decoder) page(t *table, values, old []float64) {
	if !t.started {
		d.specs(t)
	}
	plain := old == nil
	d.moved = d.listed(&t.moved, t.sparseCount(plain), d.moved[:0])
	if d.err != nil {
		return
	}
	order := t.listed(&d.order, d.moved, plain)
	if plain {
		d.plainPage(t, values, order)
		t.know(values)
		return
	}
	if len(t.known) != len(old) || len(old) > 0 && t.of != &old[0] {
		t.know(old)
	}
	copy(values, old)
	last := step{i: -2}
	for _, entry := range order {
		i := int(entry >> 2)
		if entry&3 == derived && last.i != i-1 {
			continue // the series before did not move
		}
		c := &t.columns[i]
		var moved int64
		if c.by == byNeighbor && last.i == i-1 {
			moved = last.movement(values, old, i, c.mode)
		}
		before := t.known[i]
		var m int64
		if entry&3 == derived {
			if moved == 0 {
				continue
			}
			m = before + moved
		} else {
			u, ok := d.get(c, entry&3 == writtenDense)
			if !ok {
				values[i] = math.Float64frombits(d.special(true).bits)
				t.known[i] = toMode(math.Float64bits(values[i]), c.mode)
				last = step{i: i, mode: unknownMode}
				continue
			}
			base := before + moved
			if c.by == byMean {
				base = 0
			}
			m = c.at(u, base)
		}
		values[i] = math.Float64frombits(fromMode(m, c.mode))
		t.known[i], last = m, step{i, c.mode, m - before}
		if !fitsMode(m) && c.mode != modeBits {
			t.known[i], last.mode = toMode(math.Float64bits(values[i]), c.mode), unknownMode
		}
	}
	if len(values) > 0 {
		t.of = &values[0]
	}
}

// know works out m of each value in its column's mode.
func (t *table) know(values []float64) {
	if len(t.known) != len(values) {
		t.known = make([]int64, len(values))
	}
	for i, v := range values {
		t.known[i] = toMode(math.Float64bits(v), t.columns[i].mode)
	}
	if len(values) > 0 {
		t.of = &values[0]
	}
}

// step is what was read last: a column, its mode, and by how much m moved.
type step struct {
	i    int
	mode uint8
	move int64
}

// unknownMode is of a step whose movement must be worked out from the values.
const unknownMode = 255

// movement is by how much the value before i, the last one read, moved in a mode.
func (s *step) movement(values, old []float64, i int, mode uint8) int64 {
	if s.mode == mode {
		return s.move
	}
	return movement(values, old, i, mode)
}

// plainPage reads values each against the one before it.
func (d *decoder) plainPage(t *table, values []float64, order []int32) {
	next := 0
	for _, entry := range order {
		i := int(entry >> 2)
		for ; next < i; next++ {
			values[next] = math.Float64frombits(above64(values, next))
		}
		c := &t.columns[i]
		if u, ok := d.get(c, false); ok {
			values[i] = math.Float64frombits(fromMode(toMode(above64(values, i), c.mode)+unzigzag(u), c.mode))
		} else {
			values[i] = math.Float64frombits(d.special(true).bits)
		}
		next = i + 1
	}
	for ; next < len(values); next++ {
		values[next] = math.Float64frombits(above64(values, next))
	}
}
