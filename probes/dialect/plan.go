package dialect

import (
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// plan is a table applied to one page shape: which series make up which field.
type plan struct {
	dialect string
	model   string
	numbers []numberPlan
	fixed   []fixedPlan
	hists   []histogramPlan
}

// numberPlan is a field made of series. A group is what one engine told; pids of
// a group are copies of one gauge that a multi-process exporter left behind.
type numberPlan struct {
	field  *field
	groups [][]int // indices into the page
}

// fixedPlan is a field whose number stands in a label.
type fixedPlan struct {
	field *field
	value float64
}

// compile maps a page shape, nil when no dialect knows it.
func compile(schema *probes.Schema) *plan {
	t := recognise(schema)
	if t == nil {
		return nil
	}
	byName := indexByName(schema)
	p := &plan{dialect: t.name, model: modelName(schema)}
	for i := range t.fields {
		f := &t.fields[i]
		switch {
		case f.histogram != nil:
			if h, ok := compileHistogram(schema, byName, f); ok {
				p.hists = append(p.hists, h)
			}
		case len(f.labels) > 0:
			if v, ok := labelNumber(schema, pick(schema, byName, f), f); ok {
				p.fixed = append(p.fixed, fixedPlan{f, v})
			}
		default:
			if series := pick(schema, byName, f); len(series) > 0 {
				p.numbers = append(p.numbers, numberPlan{f, groups(schema, series)})
			}
		}
	}
	return p
}

// indexByName lists the series of each folded family name.
func indexByName(schema *probes.Schema) map[string][]int {
	by := map[string][]int{}
	for i := range schema.Series {
		name := fold(family(&schema.Series[i]), schema.Series[i].Type)
		by[name] = append(by[name], i)
	}
	return by
}

// family is the family of a series. Without a TYPE line the ending of its name
// is all there is to go by.
func family(s *probes.Series) string {
	if s.Type == probes.Untyped {
		for _, end := range []string{"_bucket", "_sum", "_count"} {
			if stem, found := strings.CutSuffix(s.Family, end); found {
				return stem
			}
		}
	}
	return s.Family
}

// pick finds the series of a field under the first of its names that the page
// has. When exporters repeat them under two spellings, one spelling is taken.
func pick(schema *probes.Schema, byName map[string][]int, f *field) []int {
	for _, name := range f.names {
		var out []int
		spelling := ""
		for _, i := range byName[name] {
			s := &schema.Series[i]
			if !f.admitsType(s.Type) || !f.only.admits(s) || strings.HasSuffix(s.Name, "_created") {
				continue
			}
			if spelling == "" {
				spelling = family(s)
			}
			if family(s) == spelling {
				out = append(out, i)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// groups parts series that differ in more than their pid.
func groups(schema *probes.Schema, series []int) [][]int {
	var out [][]int
	at := map[string]int{}
	for _, i := range series {
		key := identity(&schema.Series[i], "pid")
		g, known := at[key]
		if !known {
			g = len(out)
			at[key] = g
			out = append(out, nil)
		}
		out[g] = append(out[g], i)
	}
	return out
}

// identity is the labels of a series as text, without one of them.
func identity(s *probes.Series, without string) string {
	var b strings.Builder
	for _, l := range s.Labels {
		if l.Name != without {
			b.WriteString(strconv.Quote(l.Name) + strconv.Quote(l.Value))
		}
	}
	return b.String()
}

// labelNumber reads the number of an info field, summed over engines.
func labelNumber(schema *probes.Schema, series []int, f *field) (total float64, ok bool) {
	for _, i := range series {
		for _, label := range f.labels {
			if v, found := product(&schema.Series[i], label); found {
				total += v
				ok = true
				break
			}
		}
	}
	return total, ok
}

// product multiplies the labels named in "a*b".
func product(s *probes.Series, names string) (float64, bool) {
	out := 1.0
	for name := range strings.SplitSeq(names, "*") {
		v, err := strconv.ParseFloat(s.Label(name), 64)
		if err != nil || !(v >= 0) {
			return 0, false
		}
		out *= v
	}
	return out, true
}

// modelName is the first model_name on the page; more of them are counted.
func modelName(schema *probes.Schema) string {
	var seen []string
	for i := range schema.Series {
		if m := schema.Series[i].Label("model_name"); m != "" && !slices.Contains(seen, m) && len(seen) < 100 {
			seen = append(seen, m)
		}
	}
	switch len(seen) {
	case 0:
		return ""
	case 1:
		return seen[0]
	}
	return seen[0] + " +" + strconv.Itoa(len(seen)-1)
}
