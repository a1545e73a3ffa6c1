package record

import (
	"encoding/json"
	"math"
	"math/bits"
	"reflect"
	"unsafe"

	"llmtop/probes"
)

// encoder turns samples into frame bodies. What it remembers of a group, the
// decoder rebuilds from the group's frames; how columns are written is chosen from
// the group before and said in each group anew.
type encoder struct {
	ids    identities
	root   *table
	pages  map[int]*table // by schema id
	failed error

	bitWriter
	key   bool
	tick  int64 // the sample's time, ns
	clock int64 // the time written last, ns
	moved []int32
	order []int32
	elems [2][maxDepth + 1][]unsafe.Pointer
	depth int
}

// identities gives schemas and blobs the ids under which they are in the file.
type identities interface {
	schema(*probes.Scrape) int
	blob([]byte) uint64
	known(schema int) bool
}

func newEncoder(root *plan, ids identities) *encoder {
	return &encoder{
		ids: ids, root: newWritingTable(root), pages: map[int]*table{},
	}
}

// body appends the body of s to b. A key frame stands alone; another frame is
// against prev, the frame before it in its group. before may be given with a key
// frame too: sections that are the same pointer are marked as such.
func (e *encoder) body(b []byte, s, before *probes.Sample, key bool) ([]byte, error) {
	e.bitWriter = bitWriter{b: b}
	e.tick, e.failed, e.key = s.At.UnixNano(), nil, key
	e.clock = e.tick
	ref := before
	if key {
		ref = new(probes.Sample)
		e.restart()
	}
	if before == nil {
		before = ref
	}
	e.object(e.root, unsafe.Pointer(s), unsafe.Pointer(ref), unsafe.Pointer(before))
	return e.end(), e.failed
}

// restart begins a group.
func (e *encoder) restart() {
	e.root.restart()
	for id, t := range e.pages {
		if !e.ids.known(id) {
			delete(e.pages, id)
		}
		t.restart()
	}
}

// object writes a struct against ref: its table's specs if new in the group, its
// scalars, then lists and sections.
func (e *encoder) object(t *table, v, ref, before unsafe.Pointer) {
	p := t.plan
	e.begin(t, v)
	t.tally.row(e.key)
	e.moved = e.moved[:0]
	if e.key {
		for i := range p.slots {
			if p.slots[i].differs(v, ref) {
				e.moved = append(e.moved, int32(i))
			}
		}
	} else {
		for at, i := range t.sparse {
			if p.slots[i].differs(v, ref) {
				e.moved = append(e.moved, int32(at))
			}
		}
	}
	e.listed(&t.moved, t.sparseCount(e.key), e.moved)
	order := t.listed(&e.order, e.moved, e.key)
	t.row++
	for _, entry := range order {
		i, dense := entry>>2, entry&3 == writtenDense
		e.scalar(t, int(i), v, ref, dense)
	}
	for i := range p.nested {
		s := &p.nested[i]
		sub := t.sub(i, s.sub, newWritingTable)
		switch s.class {
		case classList:
			e.list(s, sub, v, ref)
		case classSection:
			e.section(s, sub, v, ref, before)
		default:
			e.sections(s, sub, v, ref, before)
		}
	}
}

func newWritingTable(p *plan) *table {
	t := newTable(p)
	t.tally = newTally(len(t.columns))
	return t
}

// begin writes the specs of a table at its first object in a group.
func (e *encoder) begin(t *table, v unsafe.Pointer) {
	if t.started {
		return
	}
	p := t.plan
	if !t.tally.primed {
		t.tally.primed = true
		for i := range p.slots {
			if n := p.slots[i].number; p.slots[i].class.isFloat() {
				if n := n(v); n.absent == 0 {
					t.tally.columns[i].look(n.bits, false)
				}
			}
		}
	}
	gap := 1.5 + math.Log2(float64(len(p.slots)+1))/2
	for i := range p.slots {
		s := &p.slots[i]
		t.choose(i, s.class, s.sum != nil, s.with >= 0, false, gap)
	}
	t.tally.begin()
	t.split()
	e.specs(t)
}

// choose sets a column's spec from the tally and begins a new one.
func (t *table) choose(i int, k class, hasSum, hasWith, hasNeighbor bool, gap float64) {
	c, seen := &t.columns[i], &t.tally.columns[i]
	s, level := seen.choose(t.tally.chosen[i], k, hasSum, hasWith, hasNeighbor, t.tally.rows, gap)
	if hasNeighbor && t.tally.rows == 0 {
		s.by = byNeighbor
	}
	if k.isFloat() {
		if mode, ok := seen.mode(); ok {
			s.mode = mode
		}
	} else if k == classTime && seen.held[0] > 0 {
		s.mode = timeUnits[3-bits.TrailingZeros8(seen.exp)]
	}
	t.tally.chosen[i] = s
	*c = column{spec: s, level: level}
	c.level = levelOf(c.rice())
	*seen = columnTally{}
}

// differs reports whether a scalar has to be written unless it is in each row.
func (s *slot) differs(v, ref unsafe.Pointer) bool {
	switch s.class {
	case classTime:
		return !s.time(v).Equal(*s.time(ref))
	case classText:
		return *s.text(v) != *s.text(ref)
	case classBlob:
		return !sameBytes(*s.blob(v), *s.blob(ref))
	case classJSON:
		return !reflect.DeepEqual(s.any(v).Elem().Interface(), s.any(ref).Elem().Interface())
	}
	return s.number(v) != s.number(ref)
}

// scalar writes a value.
func (e *encoder) scalar(t *table, i int, v, ref unsafe.Pointer, dense bool) {
	s, c, seen := &t.plan.slots[i], &t.columns[i], &t.tally.columns[i]
	switch s.class {
	case classTime:
		e.time(t, s, c, seen, v, dense)
	case classText:
		text, old := *s.text(v), *s.text(ref)
		if text != old {
			text, old = clean(text), clean(old)
			if t.tally.noting {
				seen.note(textNew, 0)
			}
		}
		e.column(t.textsOf(i), c, text, old, dense)
	case classBlob:
		e.put(c, e.ids.blob(*s.blob(v)), dense)
	case classJSON:
		b, err := json.Marshal(s.any(v).Interface())
		if err != nil && e.failed == nil {
			e.failed = err
		}
		b = cleanJSON(b)
		e.put(c, uint64(len(b)), dense)
		e.text(string(b))
	default:
		e.number(t, i, v, ref, dense)
	}
}

// sameBytes reports whether two profiles are the same bytes; most often they are the same slice.
func sameBytes(a, b []byte) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	return len(a) == 0 || &a[0] == &b[0] || string(a) == string(b)
}

// number writes a number in its column's mode, or escaped.
func (e *encoder) number(t *table, i int, v, ref unsafe.Pointer, dense bool) {
	s, c, seen := &t.plan.slots[i], &t.columns[i], &t.tally.columns[i]
	n := s.number(v)
	m, fits := int64(n.bits), n.absent == 0
	if s.class.isFloat() && fits {
		if m, fits = scaled(n.bits, c.mode); t.tally.noting || !fits {
			seen.look(n.bits, fits)
		}
	}
	if !fits {
		if t.tally.noting {
			seen.moved++
		}
		e.escape(dense)
		e.special(n, s.class)
		return
	}
	t.keep(i, m, s.class)
	if t.tally.noting {
		if r := s.number(ref); n != r {
			seen.note(m, s.base(r, c.mode))
			seen.noteOthers(t, s, v, m, c.mode)
		}
	}
	base := int64(0)
	if by := c.told(e.key, dense); by == byBefore {
		base = s.base(s.number(ref), c.mode)
	} else {
		base = t.base(s, v, by, c.mode)
	}
	e.distance(c, m, base, n, s.class, dense)
}

// distance writes m against base.
func (e *encoder) distance(c *column, m, base int64, n number, k class, dense bool) {
	u := zigzag(m - base)
	if trend := c.trend; !e.key {
		if u = c.distance(m, base); u > maxDistance {
			c.trend = trend
		}
	}
	if u > maxDistance {
		e.escape(dense)
		e.special(n, k)
		return
	}
	e.put(c, u, dense)
}

// noteOthers takes a number that may be told from others into account.
func (c *columnTally) noteOthers(t *table, s *slot, v unsafe.Pointer, m int64, mode uint8) {
	if s.sum != nil {
		d := m - t.sumOf(s, v, mode)
		c.add(bySum, zigzag(d-c.rest>>4))
		c.rest = follow(c.rest, d)
	}
	if s.with >= 0 {
		x := t.with(s, v)
		c.add(byShare, zigzag(m-x*c.other>>16))
		c.other = followShare(c.other, m, x)
	}
}

// Codes of an escaped number: a mode, in which m follows; modeBits, and 64 bits follow; or:
const escapeAbsent = 128 // plus the Absence: an Opt without a value

// special writes an escaped number.
func (e *encoder) special(n number, k class) {
	if n.absent != 0 {
		e.bits(escapeAbsent+uint64(n.absent-1), 8)
		return
	}
	mode := uint8(modeBits)
	if k.isFloat() {
		mode = modeOf(n.bits)
	}
	e.bits(uint64(mode), 8)
	if mode == modeBits {
		e.word(n.bits)
		return
	}
	e.wide(zigzag(toMode(n.bits, mode)) + 1)
}
