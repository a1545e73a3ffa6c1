package record

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"llmtop/probes"
)

// Kinds of fields, as a layout record spells them.
const (
	kindBool     = "bool"
	kindInt      = "int"
	kindUint     = "uint"
	kindFloat    = "float"
	kindOptFloat = "opt-float"
	kindOptUint  = "opt-uint"
	kindTime     = "time"
	kindText     = "text"
	kindBlob     = "blob"     // id of a blob record
	kindJSON     = "json"     // whatever has no kind of its own
	kindList     = "list"     // of Type, each against a reference
	kindSection  = "section"  // one Type, shared with the frame before when not renewed
	kindSections = "sections" // list of section
	kindScrapes  = "scrapes"  // list of section scrape, each with a schema and a vector of values
)

// layout lists the fields of each type in the order in which they are written.
// It is stored in the file, so that a reader finds fields by name: fields it
// does not know are skipped, fields that the file lacks stay zero.
type layout struct {
	ID    int          `json:"id"`
	Types []layoutType `json:"types"` // the first is the sample
}

type layoutType struct {
	Name   string        `json:"name"`
	Fields []layoutField `json:"fields"`
}

// layoutField is a field. Fields of nested structs and of arrays are fields of
// the type that holds them: "cpu_pressure.some_seconds_total", "stages.0".
type layoutField struct {
	Name string   `json:"name"`
	Kind string   `json:"kind"`
	Type string   `json:"type,omitempty"` // of a list or section
	Sum  []string `json:"sum,omitempty"`  // fields before it of which it is about the sum (a time: the sample's less that)
	With string   `json:"with,omitempty"` // field before it to which it is about proportional
}

// withs are the fields that grow with another.
var withs = map[string]map[string]string{"request": {
	"prompt_bytes": "prompt_tokens", "stages.3": "prompt_tokens", "stages.7": "prompt_tokens",
	"stages.8": "output_tokens", "detokenize_busy_seconds": "output_tokens", "send_busy_seconds": "output_tokens",
}}

// sums are the fields that others tell nearly or exactly.
var sums = map[string]map[string][]string{"request": {
	"e2e_seconds":  stages(probes.NumStages),
	"ttft_seconds": stages(probes.StageDecode),
	"arrived":      stages(probes.NumStages),
}}

// stages are the fields of a request's stages before end.
func stages(end probes.Stage) []string {
	out := make([]string, end)
	for i := range out {
		out[i] = fmt.Sprintf("stages.%d", i)
	}
	return out
}

// plan is a layoutType bound to the Go type that holds it here.
type plan struct {
	name   string
	goType reflect.Type  // nil: not known here, read past
	zero   reflect.Value // the reference of a first element
	slots  []slot        // scalars, one bit of the mask each
	nested []slot        // lists and sections, written after the scalars
	told   bool          // a slot is told from others
	name0  *slot         // the first text, which names an element; nil: none
}

// slot is a field of a plan. path leads to it through structs and arrays; nil: not known here.
type slot struct {
	layoutField
	path   []int
	offset uintptr      // where it is in the plan's Go type
	goType reflect.Type // nil: not known here
	class  class
	sum    []int // slots of which this one is the sum
	with   int   // slot to which it is proportional, below 0 for none
	sub    *plan // of a list or section
}

func (s *slot) in(v reflect.Value) reflect.Value {
	for _, i := range s.path {
		if v.Kind() == reflect.Array {
			v = v.Index(i)
		} else {
			v = v.Field(i)
		}
	}
	return v
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	bytesType    = reflect.TypeFor[[]byte]()
	optFloatType = reflect.TypeFor[probes.Opt[float64]]()
	optUintType  = reflect.TypeFor[probes.Opt[uint64]]()
	scrapeType   = reflect.TypeFor[probes.Scrape]()
	sampleType   = reflect.TypeFor[probes.Sample]()
)

// goFields returns the fields of a Go struct as a layout would name them.
// Those of the sample's prefix and those a scrape takes from its schema are left out.
func goFields(t reflect.Type) []slot {
	var out []slot
	for i := range t.NumField() {
		f := t.Field(i)
		name := fieldName(f)
		switch {
		case !f.IsExported(),
			t == sampleType && (name == "seq" || name == "at" || name == "mono" || name == "interval"),
			t == scrapeType && (name == "endpoint" || name == "schema" || name == "values"):
			continue
		}
		out = append(out, slotsOf(f.Type, name, []int{i})...)
	}
	return out
}

// slotsOf returns the slots of one field: several when it is a struct or an array.
func slotsOf(t reflect.Type, name string, path []int) []slot {
	if kind := scalarKind(t); kind != "" {
		return []slot{{layoutField: layoutField{Name: name, Kind: kind}, path: path}}
	}
	var out []slot
	extend := func(i int, t reflect.Type, part string) {
		sub := append(append([]int(nil), path...), i)
		out = append(out, slotsOf(t, name+"."+part, sub)...)
	}
	switch t.Kind() {
	case reflect.Array:
		for i := range t.Len() {
			extend(i, t.Elem(), fmt.Sprint(i))
		}
		return out
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				extend(i, f.Type, fieldName(f))
			}
		}
		return out
	}
	kind, elem := nestedKind(t)
	field := layoutField{Name: name, Kind: kind}
	if elem != nil {
		field.Type = snake(elem.Name())
	}
	return []slot{{layoutField: field, path: path}}
}

func scalarKind(t reflect.Type) string {
	switch t {
	case timeType:
		return kindTime
	case bytesType:
		return kindBlob
	case optFloatType:
		return kindOptFloat
	case optUintType:
		return kindOptUint
	}
	switch t.Kind() {
	case reflect.Bool:
		return kindBool
	case reflect.String:
		return kindText
	case reflect.Float64:
		return kindFloat
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return kindInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return kindUint
	}
	return ""
}

// nestedKind is the kind of a field that is not a scalar, and its struct type.
func nestedKind(t reflect.Type) (string, reflect.Type) {
	section := func(t reflect.Type) bool { return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct }
	switch {
	case section(t):
		return kindSection, t.Elem()
	case t.Kind() != reflect.Slice:
	case t.Elem().Kind() == reflect.Struct && scalarKind(t.Elem()) == "":
		return kindList, t.Elem()
	case section(t.Elem()) && t.Elem().Elem() == scrapeType:
		return kindScrapes, scrapeType
	case section(t.Elem()):
		if isSection(t.Elem()) {
			return kindSections, t.Elem().Elem()
		}
		return kindList, t.Elem().Elem()
	}
	return kindJSON, nil
}

func isSection(t reflect.Type) bool { return t.Implements(reflect.TypeFor[probes.Section]()) }

func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" || name == "-" {
		return snake(f.Name)
	}
	return name
}

func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// own is the layout of this program's samples, as JSON and bound. Plans do not
// change once bound, so all readers and writers share it.
var own = sync.OnceValues(func() (ownPlan, error) {
	b, err := json.Marshal(ownLayout())
	if err != nil {
		return ownPlan{}, err
	}
	root, err := bind(ownLayout())
	return ownPlan{b, root}, err
})

type ownPlan struct {
	json []byte
	root *plan
}

// goTypes are the struct types reachable from a sample, by layout name.
func goTypes() (names []string, types map[string]reflect.Type) {
	types = map[string]reflect.Type{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		name := snake(t.Name())
		if _, ok := types[name]; ok {
			return
		}
		names, types[name] = append(names, name), t
		for _, s := range goFields(t) {
			if s.Type != "" {
				f := (&s).typeIn(t)
				for f.Kind() != reflect.Struct {
					f = f.Elem()
				}
				visit(f)
			}
		}
	}
	visit(sampleType)
	return names, types
}

func (s *slot) typeIn(t reflect.Type) reflect.Type {
	for _, i := range s.path {
		if t.Kind() == reflect.Array {
			t = t.Elem()
		} else {
			t = t.Field(i).Type
		}
	}
	return t
}

// ownLayout is the layout of the samples this program knows.
func ownLayout() layout {
	l := layout{ID: 1}
	names, types := goTypes()
	for _, name := range names {
		t := layoutType{Name: name}
		var ranks [3][]layoutField // a field comes after those from which it is told
		for _, s := range goFields(types[name]) {
			rank := 0
			if s.With = withs[name][s.Name]; s.With != "" {
				rank = 1
			}
			if s.Sum = sums[name][s.Name]; s.Sum != nil {
				rank = 2
			}
			ranks[rank] = append(ranks[rank], s.layoutField)
		}
		t.Fields = slices.Concat(ranks[:]...)
		l.Types = append(l.Types, t)
	}
	return l
}
