package record

import (
	"math"
	"unsafe"

	"llmtop/probes"
)

// scrape writes a scrape: its schema, its own fields, then its values. It returns the schema's id.
func (e *encoder) scrape(t *table, s, ref *probes.Scrape, place int) int {
	id := e.ids.schema(s)
	e.wide(zigzag(int64(id-t.schema)) + 1)
	t.schema = id
	e.object(t, unsafe.Pointer(s), unsafe.Pointer(ref), nil)
	if s.Schema != nil {
		var old []float64
		if plain := e.key || place >= len(t.ids) || t.ids[place] != id; !plain {
			old = padded(ref.Values, len(s.Schema.Series))
		}
		e.page(e.pageTable(s, id), padded(s.Values, len(s.Schema.Series)), old)
	}
	return id
}

// padded is values with n of them.
func padded(values []float64, n int) []float64 {
	if len(values) == n {
		return values
	}
	out := make([]float64, n)
	copy(out, values)
	return out
}

// pageTable is the table of a schema's series, its specs written.
func (e *encoder) pageTable(s *probes.Scrape, id int) *table {
	t := e.pages[id]
	if t == nil {
		n := len(s.Schema.Series)
		t = &table{columns: make([]column, n), tally: newTally(n)}
		for i, v := range s.Values[:min(n, len(s.Values))] {
			t.tally.columns[i].look(math.Float64bits(v), false)
		}
		e.pages[id] = t
	}
	if !t.started {
		series := s.Schema.Series
		for i := range series {
			t.choose(i, classFloat, false, false, i > 0 && rises(&series[i-1], &series[i]), 7)
		}
		t.tally.begin()
		t.split()
		e.specs(t)
	}
	return t
}

// rises reports whether b moves at least as much as a, the series before it: both count
// the observations of one histogram, buckets being in the order of their bounds.
func rises(a, b *probes.Series) bool {
	return a.Type == probes.HistogramType && a.Family == b.Family &&
		len(a.Name) == len(a.Family)+len("_bucket") && (len(b.Name) == len(a.Name) || len(b.Name) == len(a.Family)+len("_count"))
}

// page writes the values of a scrape: against old, those of the frame before, or
// without any each against the value before it.
func (e *encoder) page(t *table, values, old []float64) {
	e.moved = e.moved[:0]
	plain := old == nil
	if plain {
		for i, v := range values {
			if math.Float64bits(v) != above64(values, i) {
				e.moved = append(e.moved, int32(i))
			}
		}
	} else {
		t.tally.row(false)
		for at, i := range t.sparse {
			if c := &t.columns[i]; math.Float64bits(values[i]) != c.expected(values, old, int(i)) {
				e.moved = append(e.moved, int32(at))
			}
		}
	}
	e.listed(&t.moved, t.sparseCount(plain), e.moved)
	order := t.listed(&e.order, e.moved, plain)
	for _, entry := range order {
		i := int(entry >> 2)
		c, v := &t.columns[i], number{bits: math.Float64bits(values[i])}
		m, fits := scaled(v.bits, c.mode)
		var base int64
		if plain {
			base = toMode(above64(values, i), c.mode)
		} else {
			base = t.tallied(i, values, old, m, fits)
		}
		if entry&3 == derived {
			continue
		}
		dense := entry&3 == writtenDense
		if !fits {
			e.escape(dense)
			e.special(v, classFloat)
			continue
		}
		u := zigzag(m - base)
		if trend := c.trend; !plain {
			if u = c.distance(m, base); u > maxDistance {
				c.trend = trend
			}
		}
		if u > maxDistance {
			e.escape(dense)
			e.special(v, classFloat)
			continue
		}
		e.put(c, u, dense)
	}
}

// tallied takes a value into account and returns what it is written against.
func (t *table) tallied(i int, values, old []float64, m int64, fits bool) int64 {
	c, seen := &t.columns[i], &t.tally.columns[i]
	b := toMode(math.Float64bits(old[i]), c.mode)
	base := b
	switch c.by {
	case byNeighbor:
		base += movement(values, old, i, c.mode)
	case byMean:
		base = 0
	}
	if v := math.Float64bits(values[i]); v != math.Float64bits(old[i]) {
		seen.look(v, fits)
		if !fits {
			seen.moved++
			return base
		}
		seen.note(m, b)
		if c.by == byNeighbor || i > 0 {
			apart := m - b - movement(values, old, i, c.mode)
			seen.add(byNeighbor, uint64(apart))
			if apart != 0 {
				seen.apart++
			}
		}
	}
	return base
}

// above64 is the bits of the value before i, 0 for the first.
func above64(values []float64, i int) uint64 {
	if i == 0 {
		return 0
	}
	return math.Float64bits(values[i-1])
}

// movement is by how much the value before i moved, in a mode.
func movement(values, old []float64, i int, mode uint8) int64 {
	if i == 0 {
		return 0
	}
	a, b := math.Float64bits(values[i-1]), math.Float64bits(old[i-1])
	if a == b {
		return 0
	}
	return toMode(a, mode) - toMode(b, mode)
}

// expected is the bits of value i of a sparse column that does not say otherwise: those
// of the frame before, or moved as the value before it.
func (c *column) expected(values, old []float64, i int) uint64 {
	was := math.Float64bits(old[i])
	if c.by == byNeighbor {
		if d := movement(values, old, i, c.mode); d != 0 {
			return fromMode(toMode(was, c.mode)+d, c.mode)
		}
	}
	return was
}
