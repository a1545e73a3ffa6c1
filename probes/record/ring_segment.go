package record

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"time"

	"llmtop/probes"
)

// segment is a recording in memory: a part of a ring. Its bytes are only appended to,
// so whoever has a slice of them may read it while it grows.
type segment struct {
	file     memoryFile
	appender *appender // nil once it is full
	oldest   time.Duration
	newest   time.Duration // times of its samples since the collection began
	carried  []int         // sections of its first sample that the sample before it has too; see carriedOver
}

// newSegment begins a segment with s, which comes after before (nil: nothing known).
func newSegment(s, before *probes.Sample) (*segment, error) {
	g := &segment{oldest: s.Mono, newest: s.Mono, carried: carriedOver(s, before)}
	a, err := newAppender(&g.file, Manifest{})
	if err != nil {
		return nil, err
	}
	g.appender = a
	return g, nil
}

// settle writes the gap that no sample has followed yet.
func (g *segment) settle() {
	if g.appender != nil {
		g.appender.write(item{})
	}
}

// seal gives back what only writing needs.
func (g *segment) seal() {
	g.settle()
	g.appender = nil
	g.file.b = bytes.Clone(g.file.b)
}

func (g *segment) size() int64 { return int64(cap(g.file.b)) }

// memoryFile is a file of an appender.
type memoryFile struct{ b []byte }

func (m *memoryFile) Write(b []byte) (int, error) {
	m.b = append(m.b, b...)
	return len(b), nil
}

func (m *memoryFile) Truncate(n int64) error { m.b = m.b[:n:n]; return nil }
func (m *memoryFile) Sync() error            { return nil }
func (m *memoryFile) Close() error           { return nil }

// stretch is what of a segment there was at a moment.
type stretch struct {
	b       []byte
	carried []int
}

func (g *segment) stretch() stretch { return stretch{g.file.b, g.carried} }

// memorySource is a recording in memory, for a Reader.
type memorySource struct{ *bytes.Reader }

func (m memorySource) Size() (int64, error) { return m.Reader.Size(), nil }

// each gives what is in the stretch to emit, in order, until that fails. Before is the
// sample that came before it, nil for none; the last sample is returned.
func (s stretch) each(before *probes.Sample, emit func(item) error) (*probes.Sample, error) {
	r, err := newReader(memorySource{bytes.NewReader(s.b)}, false)
	if err != nil {
		return before, err
	}
	defer r.Close()
	var known carriage
	var it item // a sample, and the findings that follow it
	flush := func() (err error) {
		if it.sample != nil {
			err = emit(it)
		}
		it = item{}
		return err
	}
	for e, err := range r.Entries(context.Background(), 0, r.Len()) {
		if err == nil && e.Finding == nil {
			err = flush()
		}
		switch {
		case err != nil:
		case e.Finding != nil:
			it.findings = append(it.findings, e.Finding)
		case e.Sample != nil:
			if e.Number == 0 {
				known = carriageOf(e.Sample, before, s.carried)
			}
			before = known.over(e.Sample)
			it.sample = before
		default:
			err = emit(item{mark: e.Mark, gap: e.Gap})
		}
		if err != nil {
			return before, err
		}
	}
	return before, flush()
}

// carriedOver says for each section of s which section of before it is, -1 for a new
// one. Sections that were not renewed are the same pointer in both; a segment stands
// alone and cannot say so.
func carriedOver(s, before *probes.Sample) (out []int) {
	if s == nil || before == nil {
		return nil
	}
	places := map[uintptr]int{}
	for i, v := range sectionsOf(before) {
		places[v.Pointer()] = i
	}
	for _, v := range sectionsOf(s) {
		i, ok := places[v.Pointer()]
		if !ok || v.IsNil() {
			i = -1
		}
		out = append(out, i)
	}
	return out
}

// carriage maps sections of a segment's samples to those that they were before the
// segment began. Its keys keep their sections alive, so that no other gets their address.
type carriage map[any]reflect.Value

// carriageOf is that of a segment whose first sample is s: carriedOver said from where.
func carriageOf(s, before *probes.Sample, carried []int) carriage {
	c := carriage{}
	if s == nil || before == nil {
		return c
	}
	from, to := sectionsOf(before), sectionsOf(s)
	for i, j := range carried {
		if i < len(to) && j >= 0 && j < len(from) && to[i].Type() == from[j].Type() {
			c[to[i].Interface()] = from[j]
		}
	}
	return c
}

// over returns s with its sections as they were before, s itself when it has none of them.
func (c carriage) over(s *probes.Sample) *probes.Sample {
	var out *probes.Sample
	var places []reflect.Value
	for i, v := range sectionsOf(s) {
		section, ok := c[v.Interface()]
		if !ok || v.IsNil() {
			continue
		}
		if out == nil {
			copied := *s
			out = &copied
			out.Scrapes, out.Requests = slices.Clone(s.Scrapes), slices.Clone(s.Requests)
			places = sectionsOf(out)
		}
		places[i].Set(section)
	}
	if out == nil {
		return s
	}
	return out
}

// sectionsOf are the pointers to sections in a sample, in a fixed order, as places.
func sectionsOf(s *probes.Sample) (out []reflect.Value) {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case f.Kind() == reflect.Pointer:
			out = append(out, f)
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Pointer:
			for j := range f.Len() {
				out = append(out, f.Index(j))
			}
		}
	}
	return out
}
