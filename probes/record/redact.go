package record

import (
	"context"
	"crypto/rand"
	"reflect"
	"sort"

	"llmtop/probes"
)

// RedactOptions says what a redacted copy keeps. The zero value keeps least.
type RedactOptions struct {
	Drop         bool                 // replace names by nothing that tells them apart, instead of hashing them
	KeepModel    bool                 // names of models in labels
	KeepMarks    bool                 // texts of marks, as they were written
	KeepProfiles bool                 // CPU profiles, verbatim: they hold function names, file paths and command lines
	Cause        func(id string) bool // causes of findings that are no secret: those of the built-in rule book
}

// Tally is how often something was kept, hashed or dropped.
type Tally struct {
	What  string `json:"what"`
	Done  string `json:"done"`  // kept, hashed, dropped
	Count int    `json:"count"` // distinct values, up to countedTexts; from there on occurrences
}

// Redact writes a copy of r in which every text is either of a known harmless kind, a hash,
// or dropped; numbers and times stay. A hash is the first digits of an HMAC under a key of
// this call that nobody keeps: equal names stay equal within the copy and cannot be looked
// up. After an error there is no new file.
func Redact(ctx context.Context, r *Reader, output string, o RedactOptions) (Copied, []Tally, error) {
	x := newRedactor(o)
	c, err := NewCopy(output, x.manifest(r.Info().Manifest))
	if err != nil {
		return Copied{}, nil, err
	}
	copied, err := c.all(ctx, func(yield func(Entry, error) bool) {
		for e, err := range r.Entries(ctx, 0, r.Len()) {
			if !yield(x.entry(e), err) {
				return
			}
		}
	})
	return copied, x.tallies(), err
}

// redactor rewrites samples. Sections that successive samples share stay shared.
type redactor struct {
	options RedactOptions
	key     []byte
	names   map[string]map[string]string // by kind of name: what stands for it
	counts  map[Tally]int                // Count is 0 in the key
	old     map[any]any                  // sections of the last sample and their copies
	now     map[any]any
	schemas map[*probes.Schema]*probes.Schema
}

func newRedactor(o RedactOptions) *redactor {
	key := make([]byte, 32)
	rand.Read(key) // it never fails
	if o.Cause == nil {
		o.Cause = func(string) bool { return false }
	}
	return &redactor{options: o, key: key, names: map[string]map[string]string{}, counts: map[Tally]int{},
		now: map[any]any{}, schemas: map[*probes.Schema]*probes.Schema{}}
}

func (x *redactor) entry(e Entry) Entry {
	switch {
	case e.Sample != nil:
		e.Sample = x.sample(e.Sample)
	case e.Finding != nil:
		e.Finding = x.finding(*e.Finding)
	case e.Mark != nil:
		m := *e.Mark
		x.into(&m)
		e.Mark = &m
	case e.Gap != nil:
		g := *e.Gap
		x.into(&g)
		e.Gap = &g
	}
	return e
}

func (x *redactor) sample(s *probes.Sample) *probes.Sample {
	x.old, x.now = x.now, map[any]any{}
	c := *s
	if c.Profile != nil && !x.options.KeepProfiles {
		x.count("CPU profiles", "dropped", c.Profile.At.String())
		c.Profile = nil
	}
	x.into(&c)
	return &c
}

// finding keeps what was said and when, not in which words.
func (x *redactor) finding(f Finding) *Finding {
	f.Detail = nil
	x.into(&f)
	return &f
}

func (x *redactor) manifest(m Manifest) Manifest {
	for _, word := range m.Command {
		x.count("words of command lines", "dropped", word)
	}
	m.Facts, m.Command = x.facts(m.Facts), nil
	x.into(&m)
	done := "names are hashed with a key that was not kept"
	if x.options.Drop {
		done = "names are dropped"
	}
	return m.with("redacted", "%s", done)
}

// facts keeps the version of Go; anything else may say where it was.
func (x *redactor) facts(facts map[string]string) map[string]string {
	kept := map[string]string{}
	for name, value := range facts {
		if name == "go" && versionShape.MatchString(value) {
			kept[name] = value
			continue
		}
		x.count("facts of the manifest", "dropped", name)
	}
	return kept
}

// into redacts the struct that p points to, of which the caller owns only the outermost
// level: whatever lies below is copied.
func (x *redactor) into(p any) { x.fields(reflect.ValueOf(p).Elem()) }

func (x *redactor) fields(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			x.field(v.Field(i), t.Name()+"."+f.Name)
		}
	}
}

// field redacts one field in place. A kind of field that nobody thought of is emptied.
func (x *redactor) field(v reflect.Value, name string) {
	switch t := v.Type(); {
	case t == timeType || t == optFloatType || t == optUintType:
	case t.Kind() == reflect.String:
		v.SetString(x.text(name, v.String()))
	case t.Kind() == reflect.Struct:
		x.fields(v)
	case t == reflect.TypeFor[*probes.Schema]():
		v.Set(reflect.ValueOf(x.schema(v.Interface().(*probes.Schema))))
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		x.pointer(v)
	case t.Kind() == reflect.Slice && holdsStructs(t.Elem()):
		x.slice(v)
	case harmless(t):
	case verbatim[name]:
	default:
		v.SetZero()
	}
}

// verbatim are fields that are no texts and are decided on elsewhere.
var verbatim = map[string]bool{"Profile.Raw": true, "Manifest.Facts": true}

func holdsStructs(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// harmless types cannot hold a text.
func harmless(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return harmless(t.Elem())
	case reflect.Slice:
		return t.Elem().Kind() == reflect.Float64
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64
}

// pointer replaces a section by its copy; that of the sample before where it was not renewed.
func (x *redactor) pointer(v reflect.Value) {
	if v.IsNil() {
		return
	}
	was := v.Interface()
	c, ok := x.now[was]
	if !ok {
		c, ok = x.old[was]
	}
	if !ok {
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(v.Elem())
		x.fields(p.Elem())
		c = p.Interface()
	}
	x.now[was] = c
	v.Set(reflect.ValueOf(c))
}

func (x *redactor) slice(v reflect.Value) {
	if v.Len() == 0 {
		return
	}
	c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(c, v)
	for i := range c.Len() {
		if e := c.Index(i); e.Kind() == reflect.Pointer {
			x.pointer(e)
		} else {
			x.fields(e)
		}
	}
	v.Set(c)
}

// schema redacts the series of a page; pages that share one share its copy.
func (x *redactor) schema(s *probes.Schema) *probes.Schema {
	if s == nil {
		return nil
	}
	if c := x.schemas[s]; c != nil {
		return c
	}
	if len(x.schemas) >= keptPages {
		clear(x.schemas)
	}
	c := &probes.Schema{Series: make([]probes.Series, len(s.Series))}
	for i := range s.Series {
		c.Series[i] = x.series(s.Series[i])
	}
	x.schemas[s] = c
	return c
}

// tallies is what was done, the commonest things first.
func (x *redactor) tallies() []Tally {
	var out []Tally
	for t, n := range x.counts {
		t.Count = n
		out = append(out, t)
	}
	rank := map[string]int{"dropped": 0, "hashed": 1, "kept": 2}
	sort.Slice(out, func(i, j int) bool {
		if a, b := rank[out[i].Done], rank[out[j].Done]; a != b {
			return a < b
		}
		return out[i].What < out[j].What
	})
	return out
}
