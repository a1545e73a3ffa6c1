package record

import (
	"fmt"
	"reflect"
	"slices"
)

// maxLayoutFields bounds the fields of all types of a layout.
const maxLayoutFields = 10000

// bind finds the Go fields of a layout and returns the plan of the sample.
func bind(l layout) (*plan, error) {
	_, types := goTypes()
	plans := map[string]*plan{}
	fields := 0
	for _, t := range l.Types {
		if fields += len(t.Fields); plans[t.Name] != nil || fields > maxLayoutFields {
			return nil, fmt.Errorf("layout %d: %w", l.ID, errMalformed)
		}
		plans[t.Name] = &plan{name: t.Name, goType: types[t.Name]}
	}
	for _, t := range l.Types {
		if err := plans[t.Name].bindFields(t.Fields, plans); err != nil {
			return nil, fmt.Errorf("layout %d: type %q: %w", l.ID, printable(t.Name), err)
		}
	}
	root := plans["sample"]
	if root == nil {
		return nil, fmt.Errorf("layout %d has no type \"sample\"", l.ID)
	}
	return root, root.acyclic(map[*plan]int{})
}

func (p *plan) bindFields(fields []layoutField, plans map[string]*plan) error {
	type key struct{ name, kind, of string }
	known := map[key][]int{}
	if p.goType != nil {
		p.zero = reflect.New(p.goType).Elem()
		for _, s := range goFields(p.goType) {
			known[key{s.Name, s.Kind, s.Type}] = s.path
		}
	}
	for _, f := range fields {
		s := slot{layoutField: f, path: known[key{f.Name, f.Kind, f.Type}], class: classes[f.Kind]}
		if s.path != nil {
			s.goType, s.offset = s.typeIn(p.goType), s.offsetIn(p.goType)
		}
		switch {
		case s.class == classList || s.class == classSection || s.class == classSections || s.class == classScrapes:
			if s.sub = plans[f.Type]; s.sub == nil {
				return fmt.Errorf("field %q is of unknown type %q", printable(f.Name), printable(f.Type))
			}
			p.nested = append(p.nested, s)
		case s.class != 0:
			if err := s.bindOthers(p.slots); err != nil {
				return err
			}
			p.told = p.told || s.with >= 0 || s.sum != nil
			p.slots = append(p.slots, s)
		default:
			return fmt.Errorf("field %q is of unknown kind %q", printable(f.Name), printable(f.Kind))
		}
	}
	for i := range p.slots {
		if p.slots[i].class == classText && p.name0 == nil {
			p.name0 = &p.slots[i]
		}
	}
	return nil
}

// maxSum bounds the fields of a sum.
const maxSum = 64

// bindOthers finds the fields from which this one is told, among those before it. One
// that is not known here makes this one unknown too.
func (s *slot) bindOthers(before []slot) error {
	if len(s.Sum) > maxSum {
		return fmt.Errorf("field %q is the sum of %d: more than %d", printable(s.Name), len(s.Sum), maxSum)
	}
	find := func(name string, ok func(class) bool) (int, error) {
		i := slices.IndexFunc(before, func(b slot) bool { return b.Name == name && ok(b.class) })
		if i < 0 {
			return i, fmt.Errorf("field %q is told from %q, which is no number before it", printable(s.Name), printable(name))
		}
		if before[i].path == nil {
			s.path, s.goType = nil, nil
		}
		return i, nil
	}
	var err error
	if s.with = -1; s.With != "" {
		if s.with, err = find(s.With, class.isNumber); err != nil {
			return err
		}
	}
	for _, name := range s.Sum {
		i, err := find(name, class.isFloat)
		if err != nil {
			return err
		}
		s.sum = append(s.sum, i)
	}
	return nil
}

// offsetIn is how many bytes into t the field is.
func (s *slot) offsetIn(t reflect.Type) uintptr {
	var offset uintptr
	for _, i := range s.path {
		if t.Kind() == reflect.Array {
			t = t.Elem()
			offset += uintptr(i) * t.Size()
		} else {
			offset += t.Field(i).Offset
			t = t.Field(i).Type
		}
	}
	return offset
}

// maxDepth bounds how deep types nest; a type never holds itself.
const maxDepth = 8

// acyclic visits each plan once; a plan's mark is its depth, or visiting while under way.
func (p *plan) acyclic(marks map[*plan]int) error {
	const visiting = -1
	depth := 1
	marks[p] = visiting
	for _, s := range p.nested {
		if marks[s.sub] == 0 {
			if err := s.sub.acyclic(marks); err != nil {
				return err
			}
		}
		if marks[s.sub] == visiting {
			return fmt.Errorf("type %q holds itself: %w", printable(p.name), errMalformed)
		}
		depth = max(depth, marks[s.sub]+1)
	}
	if depth > maxDepth {
		return fmt.Errorf("type %q nests too deep: %w", printable(p.name), errMalformed)
	}
	marks[p] = depth
	return nil
}
