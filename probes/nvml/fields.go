//go:build linux && cgo

package nvml

import (
	"encoding/binary"
	"math"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// allLinks is the scope of a field that is asked for as the sum of all NVLinks.
const allLinks = math.MaxUint32

// fields are numbered readings that NVML gives several of in one call (nvmlDeviceGetFieldValues),
// each with a type and a status of its own. It is filled with want, asked with read, and
// emptied by the next want after that.
type fields struct {
	wanted  []question
	answers []fieldAnswer // as wanted
	asked   []nvml.FieldValue
	where   []int // of what was asked, its place in wanted
	done    bool
}

type fieldAnswer struct {
	ret   nvml.Return
	kind  nvml.ValueType
	value float64
}

const fieldsSymbol = "nvmlDeviceGetFieldValues"

func (f *fields) want(scope uint32, ids ...uint32) {
	if f.done {
		f.wanted, f.done = f.wanted[:0], false
	}
	for _, id := range ids {
		f.wanted = append(f.wanted, question{fieldsSymbol, id, scope})
	}
}

// read asks for all that was wanted and not refused before. The structures are cleared each
// time: NVML writes no more of a value than its type has bytes.
func (f *fields) read(r *reader, h nvml.Device) {
	f.done = true
	f.answers, f.asked, f.where = f.answers[:0], f.asked[:0], f.where[:0]
	for i, q := range f.wanted {
		ret, refused := r.refused[q]
		f.answers = append(f.answers, fieldAnswer{ret: ret})
		if !refused {
			f.asked, f.where = append(f.asked, nvml.FieldValue{FieldId: q.of, ScopeId: q.scope}), append(f.where, i)
		}
	}
	if len(f.asked) == 0 {
		return
	}
	ret := r.call("nvmlDeviceGetFieldValues", func() nvml.Return { return h.GetFieldValues(f.asked) })
	for i := range f.asked {
		q, a := f.wanted[f.where[i]], fieldAnswer{ret: ret}
		if ret == nvml.SUCCESS {
			a = decode(&f.asked[i])
			r.noteField(q, a.ret)
		}
		f.answers[f.where[i]] = a
	}
}

// noteField keeps a refusal of a single field. A number that the driver does not know yet
// is an invalid argument to it.
func (r *reader) noteField(q question, ret nvml.Return) {
	switch {
	case lost(ret):
		r.lost = ret
	case fieldAbsence(ret) == probes.Unsupported:
		r.refused[q] = ret
	}
}

func fieldAbsence(ret nvml.Return) probes.Absence {
	if ret == nvml.ERROR_INVALID_ARGUMENT {
		return probes.Unsupported
	}
	return absence(ret)
}

func (f *fields) of(id uint32) fieldAnswer { return f.ofScope(id, 0) }

func (f *fields) ofScope(id, scope uint32) fieldAnswer {
	for i, q := range f.wanted {
		if q.of == id && q.scope == scope && i < len(f.answers) {
			return f.answers[i]
		}
	}
	return fieldAnswer{ret: nvml.ERROR_NOT_SUPPORTED}
}

// opt is the value in base units.
func (a fieldAnswer) opt(scale float64) probes.Opt[float64] {
	if a.ret != nvml.SUCCESS {
		return probes.None[float64](fieldAbsence(a.ret))
	}
	return probes.Some(a.value * scale)
}

// decode reads a value by its type. All bits set is how drivers say that they do not know.
func decode(v *nvml.FieldValue) fieldAnswer {
	a := fieldAnswer{ret: nvml.Return(v.NvmlReturn), kind: nvml.ValueType(v.ValueType)}
	if a.ret != nvml.SUCCESS {
		return a
	}
	bits := binary.NativeEndian.Uint64(v.Value[:])
	low := binary.NativeEndian.Uint32(v.Value[:])
	unknown := false
	switch a.kind {
	case nvml.VALUE_TYPE_DOUBLE:
		a.value = math.Float64frombits(bits)
		unknown = math.IsNaN(a.value)
	case nvml.VALUE_TYPE_UNSIGNED_INT:
		a.value, unknown = float64(low), low == math.MaxUint32
	case nvml.VALUE_TYPE_UNSIGNED_LONG, nvml.VALUE_TYPE_UNSIGNED_LONG_LONG:
		a.value, unknown = float64(bits), bits == math.MaxUint64
	case nvml.VALUE_TYPE_SIGNED_LONG_LONG:
		a.value = float64(int64(bits))
	case nvml.VALUE_TYPE_SIGNED_INT:
		a.value = float64(int32(low))
	case nvml.VALUE_TYPE_UNSIGNED_SHORT:
		a.value = float64(binary.NativeEndian.Uint16(v.Value[:]))
	default:
		unknown = true
	}
	if unknown {
		a.ret = nvml.ERROR_NOT_SUPPORTED
	}
	return a
}

// wide says that the value is a whole number of 64 bits, as NVML's counters are.
func (a fieldAnswer) wide() bool {
	return a.kind == nvml.VALUE_TYPE_UNSIGNED_LONG || a.kind == nvml.VALUE_TYPE_UNSIGNED_LONG_LONG || a.kind == nvml.VALUE_TYPE_SIGNED_LONG_LONG
}
