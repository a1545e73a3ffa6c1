package record

import "math/bits"

// table is the columns of one place of the layout, or of one page, in a group.
type table struct {
	plan    *plan
	columns []column
	started bool        // the group has its specs
	sparse  []int32     // columns that are written where they moved
	always  []int32     // entries (below) of those that are written, or derived, in each row
	moved   column      // of how many sparse columns moved
	counts  column      // of how long a list is
	refs    column      // of which element is the reference
	ref     uint64      // code of the last reference
	length  int         // of the last list
	last    uint64      // code of the last section
	schema  int         // of the last scrape
	ids     []int       // schemas of the scrapes of the frame before, by place
	texts   []textTable // by column, when there are any
	nested  []*table
	kept    []kept   // by column
	row     uint32   // rows so far
	known   []int64  // reading only: m of the values of the page read last
	of      *float64 // its first value
	tally   *tally   // writing only
}

// An entry says how a column is written in a row: its number × 4, plus:
const (
	writtenSparse = 0
	writtenDense  = 1
	derived       = 2 // not at all: it moved as the series before it, or not
)

func newTable(p *plan) *table {
	return &table{plan: p, columns: make([]column, len(p.slots)), nested: make([]*table, len(p.nested))}
}

// sub is the table of nested field i.
func (t *table) sub(i int, p *plan, make func(*plan) *table) *table {
	if t.nested[i] == nil {
		t.nested[i] = make(p)
	}
	return t.nested[i]
}

// restart prepares a table for a group: nothing is known of its columns yet.
func (t *table) restart() {
	t.started, t.moved, t.counts, t.refs = false, column{}, column{}, column{}
	t.ref, t.length, t.last, t.schema, t.ids, t.texts = 0, 0, 0, 0, t.ids[:0], nil
	for _, n := range t.nested {
		if n != nil {
			n.restart()
		}
	}
}

// textsOf is the text table of a column.
func (t *table) textsOf(i int) *textTable {
	if t.texts == nil {
		t.texts = make([]textTable, len(t.columns))
	}
	return &t.texts[i]
}

// split lists the columns by how they are written.
func (t *table) split() {
	if t.started, t.sparse, t.always = true, t.sparse[:0], t.always[:0]; cap(t.sparse) == 0 {
		both := make([]int32, 2*len(t.columns))
		t.sparse, t.always = both[:0:len(t.columns)], both[len(t.columns):len(t.columns)]
	}
	for i := range t.columns {
		c, entry := &t.columns[i], int32(i)<<2
		if c.dense {
			t.always = append(t.always, entry|writtenDense)
			continue
		}
		t.sparse = append(t.sparse, int32(i))
		if c.by == byNeighbor && t.plan == nil {
			t.always = append(t.always, entry|derived)
		}
	}
}

// listed returns the entries of a row in the order of the columns, where moved are
// the places of the sparse columns that moved. A plain row has no others. They are
// valid until the next call with the same scratch.
func (t *table) listed(scratch *[]int32, moved []int32, plain bool) []int32 {
	if len(moved) == 0 && !plain {
		return t.always
	}
	out := (*scratch)[:0]
	if plain {
		for _, i := range moved {
			out = append(out, i<<2|writtenSparse)
		}
		*scratch = out
		return out
	}
	rest := t.always
	for _, at := range moved {
		i := t.sparse[at]
		for len(rest) > 0 && rest[0]>>2 < i {
			out, rest = append(out, rest[0]), rest[1:]
		}
		if len(rest) > 0 && rest[0]>>2 == i {
			rest = rest[1:]
		}
		out = append(out, i<<2|writtenSparse)
	}
	out = append(out, rest...)
	*scratch = out
	return out
}

// sparseCount is how many columns of a row may be listed as moved.
func (t *table) sparseCount(plain bool) int {
	if plain {
		return len(t.columns)
	}
	return len(t.sparse)
}

// listed writes which of n sparse columns moved: how many, and of each how many
// lie between it and the one before.
func (w *bitWriter) listed(c *column, n int, moved []int32) {
	w.put(c, uint64(len(moved)), true)
	k, last := gapRice(n, len(moved)), int32(-1)
	for _, at := range moved {
		gap := uint64(at - last - 1)
		if !w.rice(gap, k) {
			w.wide(gap + 1)
		}
		last = at
	}
}

// listed appends the places of those that moved to out.
func (r *bitReader) listed(c *column, n int, out []int32) []int32 {
	count, ok := r.get(c, true)
	if !ok || count > uint64(n) {
		r.fail()
		return out
	}
	k, at := gapRice(n, int(count)), -1
	for range count {
		gap, ok := r.rice(k)
		if !ok {
			gap = r.wide() - 1
		}
		if gap >= uint64(n-at-1) || r.err != nil {
			r.fail()
			return out
		}
		at += int(gap) + 1
		out = append(out, int32(at))
	}
	return out
}

// gapRice is the parameter of the gaps between n of so many columns.
func gapRice(columns, n int) uint {
	return uint(max(bits.Len(uint(columns/(n+1)))-1, 0))
}
