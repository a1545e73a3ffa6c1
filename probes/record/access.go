package record

import (
	"math"
	"reflect"
	"time"
	"unsafe"

	"llmtop/probes"
)

// Fields are read and written through pointers: reflection would cost more than
// all the rest. A slot's offset and type come from reflect when its plan is bound,
// and its class says how many bytes of which type are there; nothing else in this
// package computes an address. A pointer given here is to a struct of the plan's
// Go type, of which the slot is.

// class is a field's kind as a number.
type class uint8

const (
	classBool class = 1 + iota
	classInt
	classUint
	classFloat
	classOptFloat
	classOptUint
	classTime
	classText
	classBlob
	classJSON
	classList
	classSection
	classSections
	classScrapes
)

var classes = map[string]class{
	kindBool: classBool, kindInt: classInt, kindUint: classUint, kindFloat: classFloat, kindOptFloat: classOptFloat,
	kindOptUint: classOptUint, kindTime: classTime, kindText: classText, kindBlob: classBlob, kindJSON: classJSON,
	kindList: classList, kindSection: classSection, kindSections: classSections, kindScrapes: classScrapes,
}

// isNumber reports whether number and setNumber apply.
func (c class) isNumber() bool { return c <= classOptUint }

// isFloat reports whether a column's mode applies.
func (c class) isFloat() bool { return c == classFloat || c == classOptFloat }

// number is the value of a scalar that is a number.
func (s *slot) number(p unsafe.Pointer) number {
	at := unsafe.Add(p, s.offset)
	switch s.class {
	case classFloat:
		return number{bits: *(*uint64)(at)}
	case classOptFloat:
		o := (*probes.Opt[float64])(at)
		if f, ok := o.Get(); ok {
			return number{bits: math.Float64bits(f)}
		}
		return absent(o.Why())
	case classOptUint:
		o := (*probes.Opt[uint64])(at)
		if u, ok := o.Get(); ok {
			return number{bits: u}
		}
		return absent(o.Why())
	case classBool:
		if *(*bool)(at) {
			return number{bits: 1}
		}
		return number{}
	}
	return number{bits: s.integer(at)}
}

// integer reads an integer of any width.
func (s *slot) integer(at unsafe.Pointer) uint64 {
	switch s.goType.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64:
		if s.goType.Size() == 8 {
			return *(*uint64)(at)
		}
	}
	v := reflect.NewAt(s.goType, at).Elem()
	if s.class == classInt {
		return uint64(v.Int())
	}
	return v.Uint()
}

// setNumber is the reverse of number. An integer too wide for its field here is cut.
func (s *slot) setNumber(p unsafe.Pointer, n number) {
	at := unsafe.Add(p, s.offset)
	switch s.class {
	case classFloat:
		*(*uint64)(at) = n.bits
	case classOptFloat:
		o := (*probes.Opt[float64])(at)
		if *o = probes.None[float64](probes.Absence(n.absent - 1)); n.absent == 0 {
			*o = probes.Some(math.Float64frombits(n.bits))
		}
	case classOptUint:
		o := (*probes.Opt[uint64])(at)
		if *o = probes.None[uint64](probes.Absence(n.absent - 1)); n.absent == 0 {
			*o = probes.Some(n.bits)
		}
	case classBool:
		*(*bool)(at) = n.bits != 0
	default:
		s.setInteger(at, n.bits)
	}
}

func (s *slot) setInteger(at unsafe.Pointer, u uint64) {
	if s.goType.Size() == 8 {
		*(*uint64)(at) = u
		return
	}
	v := reflect.NewAt(s.goType, at).Elem()
	if s.class == classInt {
		v.SetInt(int64(u))
	} else {
		v.SetUint(u)
	}
}

func absent(why probes.Absence) number { return number{absent: 1 + min(uint8(why), maxAbsence)} }

// float is the number's bits, 0 when it is absent.
func (n number) float() uint64 {
	if n.absent != 0 {
		return 0
	}
	return n.bits
}

func (s *slot) time(p unsafe.Pointer) *time.Time { return (*time.Time)(unsafe.Add(p, s.offset)) }
func (s *slot) text(p unsafe.Pointer) *string    { return (*string)(unsafe.Add(p, s.offset)) }
func (s *slot) blob(p unsafe.Pointer) *[]byte    { return (*[]byte)(unsafe.Add(p, s.offset)) }

// any is a pointer to the field.
func (s *slot) any(p unsafe.Pointer) reflect.Value {
	return reflect.NewAt(s.goType, unsafe.Add(p, s.offset))
}

// pointer is the field of a section.
func (s *slot) pointer(p unsafe.Pointer) *unsafe.Pointer {
	return (*unsafe.Pointer)(unsafe.Add(p, s.offset))
}

// pointers are the sections of a field that is a slice of pointers; nil for no struct.
func (s *slot) pointers(p unsafe.Pointer) []unsafe.Pointer {
	if p == nil || s.goType == nil {
		return nil
	}
	return *(*[]unsafe.Pointer)(unsafe.Add(p, s.offset))
}

// make makes the field a slice of n nil pointers and returns it.
func (s *slot) make(p unsafe.Pointer, n int) []unsafe.Pointer {
	s.any(p).Elem().Set(reflect.MakeSlice(s.goType, n, n))
	return s.pointers(p)
}

// structs are the structs of a field that is a list of them or of pointers to them,
// without nil ones.
func (s *slot) structs(p unsafe.Pointer, out []unsafe.Pointer) []unsafe.Pointer {
	if p == nil || s.goType == nil {
		return out
	}
	if elem := s.goType.Elem(); elem.Kind() == reflect.Struct {
		at := unsafe.Add(p, s.offset)
		slice := *(*[]struct{})(at) // of any type: only its length and its first element are taken
		first := unsafe.Pointer(unsafe.SliceData(slice))
		for i := range len(slice) {
			out = append(out, unsafe.Add(first, uintptr(i)*elem.Size()))
		}
		return out
	}
	for _, e := range s.pointers(p) {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}

// makeStructs makes the field a list of n structs, and reports whether they are copies
// of those of ref, as far as there are any; otherwise they are zero.
func (s *slot) makeStructs(p, ref unsafe.Pointer, n int) bool {
	slice := reflect.MakeSlice(s.goType, n, n)
	copied := s.goType.Elem().Kind() == reflect.Struct && ref != nil
	if copied {
		reflect.Copy(slice, s.any(ref).Elem())
	} else if elem := s.goType.Elem(); elem.Kind() == reflect.Pointer {
		structs := reflect.MakeSlice(reflect.SliceOf(elem.Elem()), n, n)
		first, size := structs.UnsafePointer(), elem.Elem().Size()
		pointers := unsafe.Slice((*unsafe.Pointer)(slice.UnsafePointer()), n)
		for i := range pointers {
			pointers[i] = unsafe.Add(first, uintptr(i)*size)
		}
	}
	s.any(p).Elem().Set(slice)
	return copied
}

// copyStruct makes the struct at dst, of the plan's Go type, a copy of that at src.
func (p *plan) copyStruct(dst, src unsafe.Pointer) {
	reflect.NewAt(p.goType, dst).Elem().Set(reflect.NewAt(p.goType, src).Elem())
}

// clearNested empties the lists and sections of a struct.
func (p *plan) clearNested(dst unsafe.Pointer) {
	for i := range p.nested {
		switch s := &p.nested[i]; {
		case s.goType == nil:
		case s.class == classSection:
			*s.pointer(dst) = nil
		default: // a slice of any type
			*(*[]struct{})(unsafe.Add(dst, s.offset)) = nil
		}
	}
}

// zeroStruct is a struct of the plan's Go type, nil when it is not known here. It is never changed.
func (p *plan) zeroStruct() unsafe.Pointer {
	if p.goType == nil {
		return nil
	}
	return p.zero.Addr().UnsafePointer()
}
