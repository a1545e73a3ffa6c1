package record

import (
	"math"
	"reflect"
	"unsafe"

	"llmtop/probes"
)

// code reads a section's code.
func (d *decoder) code(t *table) uint64 {
	if !d.bit() {
		t.last = d.wide() - 1
	}
	return t.last
}

// section reads one section.
func (d *decoder) section(s *slot, t *table, v, ref, before unsafe.Pointer) {
	code := d.code(t)
	if code > sectionShared {
		d.fail()
	}
	if code == sectionNil || d.err != nil {
		return
	}
	var r, old unsafe.Pointer
	if before != nil {
		old = *s.pointer(before)
	}
	if code == sectionShared && !d.key {
		if v != nil {
			*s.pointer(v) = old
		}
		return
	}
	if ref != nil {
		r = *s.pointer(ref)
	}
	made := d.content(s, t, v != nil, r, nil)
	if code == sectionShared && old != nil {
		made = old // the key frame repeats what is at hand
	}
	if v != nil {
		*s.pointer(v) = made
	}
}

// content reads a section that starts as a copy of r, nil for none; scrape reads what
// a scrape has besides.
func (d *decoder) content(s *slot, t *table, known bool, r unsafe.Pointer, scrape func(dst, ref unsafe.Pointer)) unsafe.Pointer {
	var dst unsafe.Pointer
	if known && d.spend(s.sub.size()) {
		dst = reflect.New(s.sub.goType).UnsafePointer()
		if r == nil {
			r = s.sub.zeroStruct()
		}
	}
	if dst == nil {
		r = nil
	}
	if scrape != nil {
		scrape(dst, r)
	} else {
		d.fill(t, dst, r)
	}
	return dst
}

// sections reads a list of sections, scrapes among them.
func (d *decoder) sections(s *slot, t *table, v, ref, before unsafe.Pointer) {
	n := d.length(t, min(d.left(), maxSections))
	if d.err != nil || !d.spend(32*n) {
		return
	}
	refs, olds := s.pointers(ref), s.pointers(before)
	var out []unsafe.Pointer
	if v != nil && n > 0 {
		out = s.make(v, n)
	}
	ids := make([]int, n)
	for i := 0; i < n && d.err == nil; i++ {
		code := d.code(t)
		if code == sectionNil {
			continue
		}
		old := shared(olds, code, i)
		made := old
		if code == sectionNew || d.key {
			var scrape func(dst, ref unsafe.Pointer)
			if s.class == classScrapes {
				scrape = func(dst, ref unsafe.Pointer) { ids[i] = d.scrape(t, (*probes.Scrape)(dst), (*probes.Scrape)(ref), i) }
			}
			var r unsafe.Pointer
			if i < len(refs) {
				r = refs[i]
			}
			if made = d.content(s, t, v != nil, r, scrape); code != sectionNew && old != nil {
				made = old
			}
		} else {
			ids[i] = t.idShared(code, i)
		}
		if out != nil {
			out[i] = made
		}
	}
	t.ids = ids
}

// shared is the section that code refers to, nil when it is not there.
func shared(olds []unsafe.Pointer, code uint64, i int) unsafe.Pointer {
	j := uint64(i)
	if code >= sectionMoved {
		j = code - sectionMoved
	}
	if code == sectionNew || j >= uint64(len(olds)) {
		return nil
	}
	return olds[j]
}

// scrape reads a scrape: its schema, its own fields, then its values. It returns the schema's id.
func (d *decoder) scrape(t *table, s, ref *probes.Scrape, place int) int {
	id := int64(t.schema) + unzigzag(d.wide()-1)
	if id < 0 || id > math.MaxInt32 {
		d.fail()
	}
	if d.err != nil {
		return 0
	}
	t.schema = int(id)
	var schema *probes.Schema
	var endpoint string
	if id > 0 {
		var ok bool
		if schema, endpoint, ok = d.file.schema(int(id)); !ok {
			d.fail()
			return 0
		}
	}
	d.fill(t, unsafe.Pointer(s), unsafe.Pointer(ref))
	var values []float64
	if schema != nil && d.err == nil {
		values = d.scrapeValues(t, ref, int(id), len(schema.Series), place)
	}
	if s != nil {
		s.Endpoint, s.Schema, s.Values = endpoint, schema, values
	}
	return int(id)
}

func (d *decoder) scrapeValues(t *table, ref *probes.Scrape, id, n, place int) []float64 {
	page := d.pages[id]
	if page == nil {
		if !d.spend(128 * n) {
			return nil
		}
		page = &table{columns: make([]column, n)}
		d.pages[id] = page
	}
	if !d.spend(8 * n) {
		return nil
	}
	values := d.values(n)
	var old []float64
	if !d.key && place < len(t.ids) && t.ids[place] == id {
		if old = make([]float64, 0); ref != nil {
			old = ref.Values
		}
		old = padded(old, n)
	}
	d.page(page, values, old)
	return values
}
