package record

import (
	"encoding/json"
	"math"
	"reflect"
	"time"

	"llmtop/probes"
)

// v1Decoder reads the frame bodies of version 1 (FORMAT-1.md), for the frames of one
// group in order. A part of the layout that is not known here is read past.
type v1Decoder struct {
	root *plan
	file contents

	cursor
	clock  int64
	texts  v1Texts
	modes  map[any][]uint8
	masks  []vectorMask
	ids    map[*probes.Scrape]int // schemas of the group's scrapes
	budget int
}

// spent is how many bytes the last frame took.
func (d *v1Decoder) spent() int { return maxFrameMemory - d.budget }

func newV1Decoder(root *plan, file contents) *v1Decoder {
	d := &v1Decoder{root: root, file: file, modes: map[any][]uint8{}, ids: map[*probes.Scrape]int{}}
	d.texts.entries = []string{""}
	return d
}

// body decodes a frame into s, whose prefix is set. ref is the frame before it in the
// group, nil for a key frame; before is the frame before it in the file, nil when it
// is not at hand: then sections that were the same pointer are of their own.
func (d *v1Decoder) body(b []byte, s, ref, before *probes.Sample) error {
	d.cursor, d.clock, d.budget = cursor{b: b}, s.At.UnixNano(), maxFrameMemory
	key := ref == nil
	if key {
		ref = new(probes.Sample)
	}
	if before == nil {
		before = new(probes.Sample)
	}
	dst, r := reflect.ValueOf(s).Elem(), reflect.ValueOf(ref).Elem()
	for i := range d.root.slots {
		if f := d.root.slots[i].field(dst); f.IsValid() {
			f.Set(d.root.slots[i].in(r))
		}
	}
	d.object(d.root, dst, r, reflect.ValueOf(before).Elem(), key)
	return d.err
}

// object reads a struct. dst already holds what the reference holds, apart from lists and
// sections. dst is invalid when the type is not known here.
func (d *v1Decoder) object(p *plan, dst, ref, before reflect.Value, key bool) {
	modes := d.modesOf(p, len(p.slots))
	mask := d.take((len(p.slots) + 7) / 8)
	for i := range p.slots {
		if d.err != nil {
			return
		}
		if mask[i/8]&(1<<(i%8)) != 0 {
			s := &p.slots[i]
			d.scalar(s, s.field(dst), s.field(ref), modes[i])
		}
	}
	for i := range p.nested {
		s := &p.nested[i]
		v, r, b := s.field(dst), s.field(ref), s.field(before)
		switch s.Kind {
		case kindList:
			d.list(s.sub, v, r)
		case kindSection:
			d.section(s.sub, v, r, b, key)
		default:
			d.sections(s, v, r, b, key)
		}
	}
}

// field is the field of v, invalid when either is not known here.
func (s *slot) field(v reflect.Value) reflect.Value {
	if s.path == nil || !v.IsValid() {
		return reflect.Value{}
	}
	return s.in(v)
}

func (d *v1Decoder) modesOf(table any, n int) []uint8 {
	m, ok := d.modes[table]
	if !ok {
		m = d.cursor.modes(n)
		d.modes[table] = m
	}
	return m
}

// spend counts n bytes of memory against the frame's budget.
func (d *v1Decoder) spend(n int) bool {
	if d.budget -= n; d.budget < 0 {
		d.fail()
	}
	return d.err == nil
}

func (d *v1Decoder) scalar(s *slot, v, ref reflect.Value, mode uint8) {
	var r number
	isNumber := s.Kind != kindTime && s.Kind != kindText && s.Kind != kindBlob && s.Kind != kindJSON
	if isNumber && ref.IsValid() {
		r = numberOf(s, ref)
	}
	switch s.Kind {
	case kindFloat, kindOptFloat:
		d.number(s, v, d.float(r, mode))
	case kindTime:
		if t := d.time(); v.IsValid() {
			v.Set(reflect.ValueOf(t))
		}
	case kindText:
		var old string
		if ref.IsValid() {
			old = ref.String()
		}
		if t := d.text(&d.texts, old); v.IsValid() && d.spend(len(t)) {
			v.SetString(t)
		}
	case kindBlob:
		if id := d.uvarint(); v.IsValid() {
			d.blobInto(v, id)
		}
	case kindJSON:
		n := d.uvarint()
		b := d.take(int(min(n, uint64(len(d.b))+1)))
		if v.IsValid() && d.err == nil && json.Unmarshal(b, v.Addr().Interface()) != nil {
			d.fail()
		}
	default:
		d.number(s, v, d.int(r))
	}
}

func (d *v1Decoder) number(s *slot, v reflect.Value, n number) {
	if v.IsValid() {
		setNumber(s, v, n)
	}
}

// Codes of an escaped time.
const (
	v1TimeZero    = 0
	v1TimeSeconds = 1 // varint Unix seconds, uvarint ns: beyond what ns in 64 bits can hold
)

func (d *v1Decoder) blobInto(v reflect.Value, id uint64) {
	if id == 0 {
		v.SetBytes(nil)
		return
	}
	b, ok := d.file.blob(id)
	if !ok {
		b = nil // lost: the section stays, without its bytes
	}
	v.SetBytes(b)
}

func (d *v1Decoder) time() time.Time {
	token := d.uvarint()
	if token > 0 {
		d.clock += unzigzag(token - 1)
		return time.Unix(0, d.clock).UTC()
	}
	switch d.byte() {
	case v1TimeZero:
		return time.Time{}
	case v1TimeSeconds:
		sec, ns := d.varint(), d.uvarint()
		if ns < 1e9 {
			return time.Unix(sec, int64(ns)).UTC()
		}
	}
	d.fail()
	return time.Time{}
}

func (d *v1Decoder) list(p *plan, v, ref reflect.Value) {
	n := d.count(len(d.b))
	if n == 0 || !d.spend(n*p.size()) {
		return
	}
	var refs []reflect.Value
	elems := make([]reflect.Value, n)
	if v.IsValid() {
		elems, refs = newElements(v, n), elements(ref)
	}
	for i := range n {
		code := d.uvarint()
		r := p.zero
		switch {
		case code == 0 && i < len(refs):
			r = refs[i]
		case code == 1 && i > 0:
			r = elems[i-1]
		case code >= 2 && code-2 < uint64(len(refs)):
			r = refs[code-2]
		}
		d.fill(p, elems[i], r)
		if d.err != nil {
			return
		}
	}
}

// fill reads a struct that starts as a copy of ref.
func (d *v1Decoder) fill(p *plan, dst, ref reflect.Value) {
	if dst.IsValid() {
		dst.Set(ref)
		for i := range p.nested {
			if f := p.nested[i].field(dst); f.IsValid() {
				f.SetZero()
			}
		}
	}
	d.object(p, dst, ref, p.zero, false)
}

// newElements makes v a slice of n structs, or of pointers to them, and returns the structs.
func newElements(v reflect.Value, n int) []reflect.Value {
	slice := reflect.MakeSlice(v.Type(), n, n)
	elem := v.Type().Elem()
	structs := slice
	if elem.Kind() == reflect.Pointer {
		structs = reflect.MakeSlice(reflect.SliceOf(elem.Elem()), n, n)
	}
	out := make([]reflect.Value, n)
	for i := range n {
		out[i] = structs.Index(i)
		if elem.Kind() == reflect.Pointer {
			slice.Index(i).Set(out[i].Addr())
		}
	}
	v.Set(slice)
	return out
}

// Codes of a section; 1 is new.
const (
	v1SectionNil    = 0
	v1SectionShared = 2 // plus its position: not renewed since the frame before
)

// section reads one section into the pointer v.
func (d *v1Decoder) section(p *plan, v, ref, before reflect.Value, key bool) {
	code := d.uvarint()
	if code == v1SectionNil {
		return
	}
	if code > v1SectionShared {
		d.fail()
		return
	}
	if code == v1SectionShared && d.share(v, before, key) {
		return
	}
	d.content(p, nil, v, ref, 0)
	d.reuse(v, before, code)
}

// reuse replaces what a key frame repeats by the pointer of the frame before, where that is at hand.
func (d *v1Decoder) reuse(v, before reflect.Value, code uint64) {
	if code < v1SectionShared || d.err != nil || !v.IsValid() || !before.IsValid() || before.IsNil() {
		return
	}
	if s, ok := v.Interface().(*probes.Scrape); ok {
		d.ids[before.Interface().(*probes.Scrape)] = d.ids[s]
	}
	v.Set(before)
}

// share makes v the pointer of the frame before. It says whether that was all: in
// a key frame the content follows all the same.
func (d *v1Decoder) share(v, before reflect.Value, key bool) bool {
	if !key {
		if v.IsValid() && before.IsValid() {
			v.Set(before)
		}
		return true
	}
	return false
}

// content reads a section that starts as a copy of ref's.
func (d *v1Decoder) content(p *plan, scrape *slot, v, ref reflect.Value, position int) {
	var dst reflect.Value
	r := p.zero
	if v.IsValid() && d.spend(p.size()) {
		v.Set(reflect.New(p.goType))
		dst = v.Elem()
		if ref.IsValid() && !ref.IsNil() {
			r = ref.Elem()
		}
	}
	if scrape != nil {
		d.scrape(p, dst, r, position)
		return
	}
	d.fill(p, dst, r)
}

// sections reads a list of sections, scrapes among them.
func (d *v1Decoder) sections(s *slot, v, ref, before reflect.Value, key bool) {
	n := d.count(min(len(d.b), maxSections))
	if n == 0 {
		return
	}
	if v.IsValid() {
		v.Set(reflect.MakeSlice(v.Type(), n, n))
	}
	for i := 0; i < n && d.err == nil; i++ {
		code := d.uvarint()
		if code == v1SectionNil {
			continue
		}
		dst, old := element(v, i), reflect.Value{}
		if code >= v1SectionShared && code-v1SectionShared < 1<<16 {
			old = element(before, int(code-v1SectionShared))
		}
		if code >= v1SectionShared && d.share(dst, old, key) {
			continue
		}
		scrape := s
		if s.Kind != kindScrapes {
			scrape = nil
		}
		d.content(s.sub, scrape, dst, element(ref, i), i)
		d.reuse(dst, old, code)
	}
}

// element is element i of a slice, invalid when there is none.
func element(v reflect.Value, i int) reflect.Value {
	if !v.IsValid() || i >= v.Len() {
		return reflect.Value{}
	}
	return v.Index(i)
}

// scrape reads a scrape: its schema, its own fields, then its values.
func (d *v1Decoder) scrape(p *plan, dst, ref reflect.Value, position int) {
	id := d.count(math.MaxInt32)
	var schema *probes.Schema
	var endpoint string
	if id > 0 {
		var ok bool
		if schema, endpoint, ok = d.file.schema(id); !ok {
			d.fail()
			return
		}
	}
	d.fill(p, dst, ref)
	var old, values []float64
	if dst.IsValid() && ref.IsValid() {
		if r := ref.Addr().Interface().(*probes.Scrape); d.ids[r] == id {
			old = r.Values
		}
	}
	if schema != nil && d.spend(8*len(schema.Series)) {
		values = make([]float64, len(schema.Series))
		d.vector(values, old, id, position)
	}
	if dst.IsValid() {
		s := dst.Addr().Interface().(*probes.Scrape)
		s.Endpoint, s.Schema, s.Values = endpoint, schema, values
		d.ids[s] = id
	}
}

// elements are a slice's structs, without nil ones.
func elements(v reflect.Value) []reflect.Value {
	if !v.IsValid() {
		return nil
	}
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
