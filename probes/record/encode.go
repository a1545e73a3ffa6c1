package record

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"

	"llmtop/probes"
)

// encoder turns samples into frame bodies. What it remembers of a group, the
// decoder rebuilds from the group's frames; modes chosen from earlier groups
// are written into each group anew.
type encoder struct {
	root  *plan
	ids   identities
	modes map[any]*modeTable // by *plan, or by schema id

	out    []byte
	clock  int64 // the time written last, ns
	texts  textTable
	fresh  map[any]bool // mode tables written in this group
	masks  []vectorMask // by position among the scrapes
	failed error
}

// identities gives schemas and blobs the ids under which they are in the file.
type identities interface {
	schema(*probes.Scrape) int
	blob([]byte) uint64
	known(schema int) bool
}

func newEncoder(root *plan, ids identities) *encoder {
	return &encoder{
		root: root, ids: ids,
		modes: map[any]*modeTable{}, fresh: map[any]bool{},
		texts: textTable{index: map[string]int{}},
	}
}

// body appends the body of s to b. A key frame stands alone; another frame is
// against prev, the frame before it in its group. before may be given with a key
// frame too: sections that are the same pointer are marked as such.
func (e *encoder) body(b []byte, s, before *probes.Sample, key bool) ([]byte, error) {
	e.out, e.clock, e.failed = b, s.At.UnixNano(), nil
	ref := before
	if key {
		ref = new(probes.Sample)
		e.texts.reset()
		clear(e.fresh)
		e.masks = e.masks[:0]
		for table := range e.modes {
			if id, ok := table.(int); ok && !e.ids.known(id) {
				delete(e.modes, id)
			}
		}
	}
	if before == nil {
		before = ref
	}
	e.object(e.root, reflect.ValueOf(s).Elem(), reflect.ValueOf(ref).Elem(), reflect.ValueOf(before).Elem(), key)
	return e.out, e.failed
}

// object writes a struct against ref: modes if new in the group, the mask of
// scalars that differ, those scalars, then lists and sections.
func (e *encoder) object(p *plan, v, ref, before reflect.Value, key bool) {
	modes := e.objectModes(p, v)
	maskAt := len(e.out)
	for range (len(p.slots) + 7) / 8 {
		e.out = append(e.out, 0)
	}
	for i := range p.slots {
		s := &p.slots[i]
		if e.scalar(s, s.in(v), s.in(ref), modes, i) {
			e.out[maskAt+i/8] |= 1 << (i % 8)
		}
	}
	for i := range p.nested {
		s := &p.nested[i]
		switch s.Kind {
		case kindList:
			e.list(s.sub, s.in(v), s.in(ref))
		case kindSection:
			e.section(s.sub, s.in(v), s.in(ref), s.in(before), key)
		case kindSections:
			e.sections(s.sub, s.in(v), s.in(ref), s.in(before), key)
		case kindScrapes:
			e.scrapes(s.sub, s.in(v), s.in(ref), s.in(before), key)
		}
	}
}

// objectModes returns the modes of p's columns, written first when the group does not have them.
func (e *encoder) objectModes(p *plan, v reflect.Value) *modeTable {
	t := e.modes[p]
	if t == nil {
		t = newModeTable(len(p.slots))
		e.modes[p] = t
		for i := range p.slots {
			if n := numberOf(&p.slots[i], p.slots[i].in(v)); p.floats[i] && n.absent == 0 {
				t.note(i, math.Float64frombits(n.bits))
			}
		}
	}
	if !e.fresh[p] {
		e.fresh[p] = true
		t.choose()
		e.out = appendModes(e.out, t.modes)
	}
	return t
}

// scalar writes v if it differs from ref, and says whether it did.
func (e *encoder) scalar(s *slot, v, ref reflect.Value, modes *modeTable, column int) bool {
	switch s.Kind {
	case kindFloat, kindOptFloat:
		n, r := numberOf(s, v), numberOf(s, ref)
		if n == r {
			return false
		}
		if n.absent == 0 {
			modes.note(column, math.Float64frombits(n.bits))
		}
		e.out = appendFloat(e.out, n, r, modes.modes[column])
	case kindTime:
		t := v.Interface().(time.Time)
		if t.Equal(ref.Interface().(time.Time)) {
			return false
		}
		e.time(t)
	case kindText:
		if v.String() == ref.String() {
			return false
		}
		e.out = e.texts.append(e.out, clean(v.String()), clean(ref.String()))
	case kindBlob:
		if sameBytes(v.Bytes(), ref.Bytes()) {
			return false
		}
		e.out = binary.AppendUvarint(e.out, e.ids.blob(v.Bytes()))
	case kindJSON:
		return e.json(v, ref)
	default:
		n, r := numberOf(s, v), numberOf(s, ref)
		if n == r {
			return false
		}
		e.out = appendInt(e.out, n, r)
	}
	return true
}

func (e *encoder) json(v, ref reflect.Value) bool {
	if reflect.DeepEqual(v.Interface(), ref.Interface()) {
		return false
	}
	b, err := json.Marshal(v.Interface())
	if err != nil && e.failed == nil {
		e.failed = err
	}
	b = cleanJSON(b)
	e.out = append(binary.AppendUvarint(e.out, uint64(len(b))), b...)
	return true
}

// sameBytes reports whether two profiles are the same bytes; most often they are the same slice.
func sameBytes(a, b []byte) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	return len(a) == 0 || &a[0] == &b[0] || string(a) == string(b)
}

// Codes of an escaped time.
const (
	timeZero    = 0
	timeSeconds = 1 // varint Unix seconds, uvarint ns: beyond what ns in 64 bits can hold
)

// time writes t as the distance from the time written last, plus 1; 0 escapes.
func (e *encoder) time(t time.Time) {
	switch {
	case t.IsZero():
		e.out = append(e.out, 0, timeZero)
	case !fitsNano(t):
		e.out = appendVarint(append(e.out, 0, timeSeconds), t.Unix())
		e.out = binary.AppendUvarint(e.out, uint64(t.Nanosecond()))
	default:
		ns := t.UnixNano()
		e.out = binary.AppendUvarint(e.out, zigzag(ns-e.clock)+1)
		e.clock = ns
	}
}

// fitsNano reports whether a distance between two such times fits 63 bits (1901 to 2200).
func fitsNano(t time.Time) bool { return t.Unix() > -1<<31 && t.Unix() < 7258118400 }

// list writes each element against the one of the reference with the same first
// text (a request's id, a device's uuid), else against the element before it.
func (e *encoder) list(p *plan, v, ref reflect.Value) {
	elems, refs := elements(v), elements(ref)
	e.out = binary.AppendUvarint(e.out, uint64(len(elems)))
	byName := p.names(refs, len(elems))
	for i, elem := range elems {
		j, code := i, uint64(0)
		if i >= len(refs) || p.nameOf(refs[i]) != p.nameOf(elem) {
			var ok bool
			if j, ok = byName[p.nameOf(elem)]; ok {
				code = uint64(j) + 2
			} else if i == 0 && len(refs) > 0 {
				j = len(refs) - 1
				code = uint64(j) + 2
			} else {
				code = 1
			}
		}
		r := p.zero
		if code != 1 {
			r = refs[j]
		} else if i > 0 {
			r = elems[i-1]
		}
		e.out = binary.AppendUvarint(e.out, code)
		e.object(p, elem, r, p.zero, false)
	}
}

// elements are a slice's structs, without nil ones.
func elements(v reflect.Value) []reflect.Value {
	out := make([]reflect.Value, 0, v.Len())
	for i := range v.Len() {
		elem := v.Index(i)
		if elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		if elem.IsValid() {
			out = append(out, elem)
		}
	}
	return out
}

func (p *plan) nameOf(v reflect.Value) string {
	for i := range p.slots {
		if p.slots[i].Kind == kindText {
			return p.slots[i].in(v).String()
		}
	}
	return ""
}

func (p *plan) names(refs []reflect.Value, wanted int) map[string]int {
	if wanted == 0 {
		return nil
	}
	m := make(map[string]int, len(refs))
	for i, r := range refs {
		m[p.nameOf(r)] = i
	}
	return m
}

// maxSections bounds the sections of one kind in a frame, engines for example.
const maxSections = 4096

// Codes of a section.
const (
	sectionNil    = 0
	sectionNew    = 1
	sectionShared = 2 // plus its position: not renewed since the frame before
)

func (e *encoder) section(p *plan, v, ref, before reflect.Value, key bool) {
	if v.IsNil() {
		e.out = append(e.out, sectionNil)
		return
	}
	if v.Pointer() == before.Pointer() {
		e.out = append(e.out, sectionShared)
		if !key {
			return
		}
	} else {
		e.out = append(e.out, sectionNew)
	}
	r := p.zero
	if !ref.IsNil() {
		r = ref.Elem()
	}
	e.object(p, v.Elem(), r, p.zero, false)
}

// sectionCount writes how many sections follow.
func (e *encoder) sectionCount(n int) {
	if n > maxSections && e.failed == nil {
		e.failed = fmt.Errorf("a sample with %d sections of one kind", n)
	}
	e.out = binary.AppendUvarint(e.out, uint64(n))
}

// sectionCode writes the code of a list's element and says whether its content follows.
func (e *encoder) sectionCode(v, before reflect.Value, key bool) bool {
	if v.IsNil() {
		e.out = append(e.out, sectionNil)
		return false
	}
	for j := range before.Len() {
		if before.Index(j).Pointer() == v.Pointer() {
			e.out = binary.AppendUvarint(e.out, sectionShared+uint64(j))
			return key
		}
	}
	e.out = append(e.out, sectionNew)
	return true
}

func (e *encoder) sections(p *plan, v, ref, before reflect.Value, key bool) {
	e.sectionCount(v.Len())
	for i := range v.Len() {
		if !e.sectionCode(v.Index(i), before, key) {
			continue
		}
		r := p.zero
		if i < ref.Len() && !ref.Index(i).IsNil() {
			r = ref.Index(i).Elem()
		}
		e.object(p, v.Index(i).Elem(), r, p.zero, false)
	}
}

func (e *encoder) scrapes(p *plan, v, ref, before reflect.Value, key bool) {
	e.sectionCount(v.Len())
	for i := range v.Len() {
		if !e.sectionCode(v.Index(i), before, key) {
			continue
		}
		s := v.Index(i).Interface().(*probes.Scrape)
		var r *probes.Scrape
		if i < ref.Len() {
			r = ref.Index(i).Interface().(*probes.Scrape)
		}
		e.scrape(p, s, r, i)
	}
}

func (e *encoder) scrape(p *plan, s, ref *probes.Scrape, position int) {
	id := e.ids.schema(s)
	e.out = binary.AppendUvarint(e.out, uint64(id))
	r, values := p.zero, []float64(nil)
	if ref != nil {
		r = reflect.ValueOf(ref).Elem()
		if e.ids.schema(ref) == id {
			if values = ref.Values; values == nil {
				values = []float64{}
			}
		}
	}
	e.object(p, reflect.ValueOf(s).Elem(), r, p.zero, false)
	if s.Schema != nil {
		e.vector(s.Values, values, id, len(s.Schema.Series), position)
	}
}
