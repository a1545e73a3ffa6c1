package record

import (
	"fmt"
	"slices"
	"unsafe"

	"llmtop/probes"
)

// Where an element's reference is, when it is not the next element of the reference's list.
const (
	refNext  = 0
	refAbove = 1 // the element before in this list; of the first: the last of the reference's list
	refOther = 2 // zigzag of the distance from the next + 1
)

// list writes each element against the one of the reference with the same first
// text (a request's id, a device's uuid), else against the element before it.
func (e *encoder) list(s *slot, t *table, v, ref unsafe.Pointer) {
	e.depth++
	elems, refs := s.structs(v, e.elems[0][e.depth][:0]), s.structs(ref, e.elems[1][e.depth][:0])
	e.elems[0][e.depth], e.elems[1][e.depth] = elems, refs
	e.put(&t.counts, zigzag(int64(len(elems)-t.length)), true)
	t.length = len(elems)
	var byName map[string]int
	next := 0
	for i, elem := range elems {
		j := next
		if name := t.plan.nameOf(elem); j >= len(refs) || t.plan.nameOf(refs[j]) != name {
			if byName == nil && len(refs) > fewRefs {
				byName = t.plan.names(refs)
			}
			j = t.plan.find(name, refs, byName)
		}
		var r unsafe.Pointer
		switch {
		case j >= 0:
			r = refs[j]
			code := uint64(refNext)
			if j != next {
				code = zigzag(int64(j-next)) + 1
			}
			e.ref(t, code)
			next = j + 1
		default:
			e.ref(t, refAbove)
			r = above(t.plan, elems, refs, i)
		}
		e.object(t, elem, r, nil)
	}
	e.depth--
}

// fewRefs is up to how many elements looking at each is faster than a map.
const fewRefs = 32

// find is the place of the element with a name, below 0 when there is none.
func (p *plan) find(name string, refs []unsafe.Pointer, byName map[string]int) int {
	if len(refs) > fewRefs {
		if j, ok := byName[name]; ok {
			return j
		}
		return -1
	}
	return slices.IndexFunc(refs, func(r unsafe.Pointer) bool { return p.nameOf(r) == name })
}

// ref writes which element is the reference: 0 for the same code as before.
func (e *encoder) ref(t *table, code uint64) {
	if code == t.ref {
		e.put(&t.refs, 0, true)
	} else {
		e.put(&t.refs, code+1, true)
	}
	t.ref = code
}

// above is the reference of element i of a list that is not in the reference's list.
func above(p *plan, elems, refs []unsafe.Pointer, i int) unsafe.Pointer {
	switch {
	case i > 0:
		return elems[i-1]
	case len(refs) > 0:
		return refs[len(refs)-1]
	}
	return p.zeroStruct()
}

func (p *plan) nameOf(v unsafe.Pointer) string {
	if p.name0 == nil {
		return ""
	}
	return *p.name0.text(v)
}

func (p *plan) names(elems []unsafe.Pointer) map[string]int {
	m := make(map[string]int, len(elems))
	for i, r := range elems {
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
	sectionShared = 2 // the section at the same place of the frame before: not renewed
	sectionMoved  = 3 // plus j: shared with element j of the frame before
)

// code writes a section's code.
func (e *encoder) code(t *table, code uint64) {
	e.bit(code == t.last)
	if code != t.last {
		e.wide(code + 1)
	}
	t.last = code
}

func (e *encoder) section(s *slot, t *table, v, ref, before unsafe.Pointer) {
	p := *s.pointer(v)
	switch {
	case p == nil:
		e.code(t, sectionNil)
		return
	case before != nil && p == *s.pointer(before):
		if e.code(t, sectionShared); !e.key {
			return
		}
	default:
		e.code(t, sectionNew)
	}
	r := *s.pointer(ref)
	if r == nil {
		r = s.sub.zeroStruct()
	}
	e.object(t, p, r, nil)
}

// sections writes a list of sections, scrapes among them.
func (e *encoder) sections(s *slot, t *table, v, ref, before unsafe.Pointer) {
	all, refs, old := s.pointers(v), s.pointers(ref), s.pointers(before)
	if len(all) > maxSections && e.failed == nil {
		e.failed = fmt.Errorf("a sample with %d sections of one kind", len(all))
	}
	e.put(&t.counts, zigzag(int64(len(all)-t.length)), true)
	t.length = len(all)
	ids := make([]int, len(all))
	for i, p := range all {
		code := sectionCode(p, old, i)
		if e.code(t, code); code == sectionNil || code >= sectionShared && !e.key {
			ids[i] = t.idShared(code, i)
			continue
		}
		var r unsafe.Pointer
		if i < len(refs) {
			r = refs[i]
		}
		if r == nil {
			r = s.sub.zeroStruct()
		}
		if s.class == classScrapes {
			ids[i] = e.scrape(t, (*probes.Scrape)(p), (*probes.Scrape)(r), i)
		} else {
			e.object(t, p, r, nil)
		}
	}
	t.ids = ids
}

// idShared is the schema of a scrape that is shared with one of the frame before.
func (t *table) idShared(code uint64, i int) int {
	j := uint64(i)
	if code >= sectionMoved {
		j = code - sectionMoved
	}
	if code < sectionShared || j >= uint64(len(t.ids)) {
		return 0
	}
	return t.ids[j]
}

// sectionCode is the code of element i of a list, p.
func sectionCode(p unsafe.Pointer, before []unsafe.Pointer, i int) uint64 {
	if p == nil {
		return sectionNil
	}
	if i < len(before) && before[i] == p {
		return sectionShared
	}
	for j, b := range before {
		if b == p {
			return sectionMoved + uint64(j)
		}
	}
	return sectionNew
}
