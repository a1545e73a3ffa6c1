package record

import (
	"encoding/json"
	"time"
	"unsafe"

	"llmtop/probes"
)

// maxFrameMemory bounds what one frame may decode to, maxGroupMemory a group: a few
// bytes can stand for a long list of unchanged elements.
const (
	maxFrameMemory = 64 << 20
	maxGroupMemory = 256 << 20
)

// contents finds what frames refer to by id; ok is false when it is lost.
type contents interface {
	schema(id int) (schema *probes.Schema, endpoint string, ok bool)
	blob(id uint64) (data []byte, ok bool)
}

// decoder is the reverse of encoder, for the frames of one group in order. A part
// of the layout that is not known here is read past: pointers to it are nil, and
// nothing that is read depends on its values.
type decoder struct {
	file  contents
	root  *table
	pages map[int]*table // by schema id

	bitReader
	key    bool
	tick   int64
	clock  int64
	given  int // bytes this frame may take
	budget int // what is left of them
	group  int // bytes the group may still take
	moved  []int32
	order  []int32
	elems  [2][maxDepth + 1][]unsafe.Pointer
	depth  int
	slab   []float64 // room for the values of the next pages
}

func newDecoder(root *plan, file contents) *decoder {
	return &decoder{file: file, root: newTable(root), pages: map[int]*table{}, group: maxGroupMemory}
}

// body decodes a frame into s, whose prefix is set. ref is the frame before it in the
// group, nil for a key frame; before is the frame before it in the file, nil when it
// is not at hand: then sections that were the same pointer are of their own.
func (d *decoder) body(b []byte, s, ref, before *probes.Sample) error {
	d.bitReader = bitReader{b: b}
	d.given = min(maxFrameMemory, d.group)
	d.budget = d.given
	d.tick = s.At.UnixNano()
	d.clock = d.tick
	if d.key = ref == nil; d.key {
		ref = new(probes.Sample)
	} else {
		at, mono, seq, interval := s.At, s.Mono, s.Seq, s.Interval
		*s = *ref
		s.At, s.Mono, s.Seq, s.Interval = at, mono, seq, interval
		d.root.plan.clearNested(unsafe.Pointer(s))
	}
	d.object(d.root, unsafe.Pointer(s), unsafe.Pointer(ref), unsafe.Pointer(before))
	d.group -= d.spent()
	return d.err
}

// spent is how many bytes the last frame took.
func (d *decoder) spent() int { return d.given - max(d.budget, 0) }

// spend counts n bytes of memory against the frame's budget.
func (d *decoder) spend(n int) bool {
	if d.budget -= n; d.budget < 0 {
		d.fail()
	}
	return d.err == nil
}

// object reads a struct. dst already holds what the reference holds, apart from lists and
// sections; it is nil when the type is not known here, and so is ref.
func (d *decoder) object(t *table, dst, ref, before unsafe.Pointer) {
	if !t.started {
		d.specs(t)
	}
	d.moved = d.listed(&t.moved, t.sparseCount(d.key), d.moved[:0])
	if d.err != nil {
		return
	}
	order := t.listed(&d.order, d.moved, d.key)
	p := t.plan
	t.row++
	for _, entry := range order {
		i := entry >> 2
		d.scalar(t, int(i), dst, ref, entry&3 == writtenDense)
	}
	for i := 0; i < len(p.nested) && d.err == nil; i++ {
		s := &p.nested[i]
		sub := d.sub(t, i)
		if d.err != nil {
			return
		}
		v, r, b := s.known(dst), s.known(ref), s.known(before)
		switch s.class {
		case classList:
			d.list(s, sub, v, r)
		case classSection:
			d.section(s, sub, v, r, b)
		default:
			d.sections(s, sub, v, r, b)
		}
	}
}

// sub is the table of nested field i, counted when it is new.
func (d *decoder) sub(t *table, i int) *table {
	if t.nested[i] == nil && !d.spend(d.tableSize(t.plan.nested[i].sub)) {
		return nil
	}
	return t.sub(i, t.plan.nested[i].sub, newTable)
}

func (d *decoder) tableSize(p *plan) int { return 256 + 128*len(p.slots) + 8*len(p.nested) }

// known is p, nil when the slot is not known here.
func (s *slot) known(p unsafe.Pointer) unsafe.Pointer {
	if s.goType == nil {
		return nil
	}
	return p
}

// scalar reads a value.
func (d *decoder) scalar(t *table, i int, dst, ref unsafe.Pointer, dense bool) {
	s, c := &t.plan.slots[i], &t.columns[i]
	v, r := s.known(dst), s.known(ref)
	switch s.class {
	case classTime:
		if at := d.time(t, s, c, v, dense); v != nil {
			*s.time(v) = at
		}
	case classText:
		old := ""
		if r != nil {
			old = *s.text(r)
		}
		if text := d.column(t.textsOf(i), c, old, dense); v != nil && (text == old || d.spend(len(text))) {
			*s.text(v) = text
		}
	case classBlob:
		if id, ok := d.get(c, dense); !ok {
			d.fail()
		} else if v != nil {
			*s.blob(v) = d.blob(id)
		}
	case classJSON:
		n, ok := d.get(c, dense)
		if !ok || n > uint64(d.left()/8) {
			d.fail()
			return
		}
		if b := []byte(d.text(int(n))); v != nil && (!d.spend(len(b)) || json.Unmarshal(b, s.any(v).Interface()) != nil) {
			d.fail()
		}
	default:
		d.number(t, i, v, r, dense)
	}
}

// blob is the bytes of a blob; nil when there are none or they are lost: the section
// stays, without its bytes.
func (d *decoder) blob(id uint64) []byte {
	if id == 0 {
		return nil
	}
	if b, ok := d.file.blob(id); ok {
		return b
	}
	return nil
}

// number reads a number that is written against ref, or told from other fields of dst.
func (d *decoder) number(t *table, i int, dst, ref unsafe.Pointer, dense bool) {
	s, c := &t.plan.slots[i], &t.columns[i]
	u, ok := d.get(c, dense)
	if !ok {
		if n := d.special(s.class.isFloat()); dst != nil {
			s.setNumber(dst, n)
		}
		return
	}
	var base int64
	if by := c.told(d.key, dense); by != byBefore && dst != nil {
		base = t.base(s, dst, by, c.mode)
	} else if ref != nil {
		base = s.base(s.number(ref), c.mode)
	}
	m := d.at(c, u, base)
	if dst == nil {
		return
	}
	t.keep(i, m, s.class)
	n := number{bits: uint64(m)}
	if s.class.isFloat() {
		n.bits = fromMode(m, c.mode)
	}
	s.setNumber(dst, n)
}

// at is m of u; in a key frame the prediction is the reference.
func (d *decoder) at(c *column, u uint64, base int64) int64 {
	if d.key {
		return base + unzigzag(u)
	}
	return c.at(u, base)
}

// special reads an escaped number.
func (r *bitReader) special(float bool) number {
	code := r.bits(8)
	switch {
	case code >= escapeAbsent && code <= escapeAbsent+maxAbsence:
		return number{absent: uint8(code-escapeAbsent) + 1}
	case code == modeBits:
		return number{bits: r.word()}
	case code < modeLimit && float:
		return number{bits: fromMode(unzigzag(r.wide()-1), uint8(code))}
	}
	r.fail()
	return number{}
}

// time reads a time. It moves the clock as writing it did.
func (d *decoder) time(t *table, s *slot, c *column, dst unsafe.Pointer, dense bool) time.Time {
	u, ok := d.get(c, dense)
	ns := int64(0)
	if !ok {
		switch d.bits(8) {
		case timeZero:
			return time.Time{}
		case timeSeconds:
			sec, n := unzigzag(d.wide()-1), d.wide()-1
			if n >= 1e9 {
				d.fail()
			}
			return time.Unix(sec, int64(n)).UTC()
		case timeNano:
			ns = int64(d.word())
		default:
			d.fail()
			return time.Time{}
		}
	} else {
		unit := nanos(c.mode)
		base := floorDiv(d.clock, unit)
		if !d.key && c.by == byTick {
			base = floorDiv(d.tick, unit)
		} else if !d.key && c.by == bySum {
			base = floorDiv(d.tick, unit)
			if dst != nil {
				base -= t.sumOf(s, dst, 9-min(c.mode, 9))
			}
		}
		ns = d.at(c, u, base) * unit
	}
	if d.key || c.by != bySum {
		d.clock = ns
	}
	return time.Unix(0, ns).UTC()
}

// list reads a list of structs.
func (d *decoder) list(s *slot, t *table, v, ref unsafe.Pointer) {
	n := d.length(t, d.left())
	if n == 0 || d.err != nil || !d.spend(n*s.sub.size()) || d.depth >= maxDepth {
		return
	}
	d.depth++
	defer func() { d.depth-- }()
	elems, refs := d.elems[0][d.depth][:0], s.structs(ref, d.elems[1][d.depth][:0])
	copied := false
	if v != nil {
		copied = s.makeStructs(v, ref, n)
		elems = s.structs(v, elems)
	}
	d.elems[0][d.depth], d.elems[1][d.depth] = elems, refs
	next := 0
	for i := 0; i < n && d.err == nil; i++ {
		code, ok := d.get(&t.refs, true)
		if !ok {
			d.fail()
			return
		}
		if code > 0 {
			t.ref = code - 1
		}
		code = t.ref
		var dst, r unsafe.Pointer
		if v != nil {
			dst = elems[i]
		}
		if code == refAbove {
			if v != nil {
				r = above(s.sub, elems, refs, i)
			}
		} else {
			j := next
			if code >= refOther {
				j += int(unzigzag(code - 1))
			}
			if r = s.sub.zeroStruct(); j >= 0 && j < len(refs) {
				r = refs[j]
			}
			next = j + 1
		}
		if !copied || i >= len(refs) || r != refs[i] {
			d.fill(t, dst, r)
			continue
		}
		t.plan.clearNested(dst)
		d.object(t, dst, r, nil)
	}
}

// length reads how long a list is, against the last.
func (d *decoder) length(t *table, limit int) int {
	u, ok := d.get(&t.counts, true)
	n := int64(t.length) + unzigzag(u)
	if !ok || n < 0 || n > int64(limit) {
		d.fail()
		return 0
	}
	t.length = int(n)
	return t.length
}

// fill reads a struct that starts as a copy of ref.
func (d *decoder) fill(t *table, dst, ref unsafe.Pointer) {
	if dst != nil {
		t.plan.copyStruct(dst, ref)
		t.plan.clearNested(dst)
	}
	d.object(t, dst, ref, nil)
}

// size is about how many bytes one element takes here.
func (p *plan) size() int {
	if p.goType == nil {
		return 16
	}
	return int(p.goType.Size()) + 16
}
