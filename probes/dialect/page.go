package dialect

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// page is a page's shape, or the part of it that one instance tells, seen by folded names.
type page struct {
	schema *probes.Schema
	byName map[string][]int // series of each folded family
}

func newPage(schema *probes.Schema) *page {
	p := &page{schema: schema, byName: map[string][]int{}}
	for i := range schema.Series {
		name := fold(family(&schema.Series[i]), schema.Series[i].Type)
		p.byName[name] = append(p.byName[name], i)
	}
	return p
}

// only is the page with the series that keep takes.
func (p *page) only(keep func(*probes.Series) bool) *page {
	out := &page{schema: p.schema, byName: make(map[string][]int, len(p.byName))}
	for name, series := range p.byName {
		var kept []int
		for _, i := range series {
			if keep(&p.schema.Series[i]) {
				kept = append(kept, i)
			}
		}
		if len(kept) > 0 {
			out.byName[name] = kept
		}
	}
	return out
}

// recognise finds the table of a page.
func (p *page) recognise() *table {
	for _, t := range tables() {
		if t.on(p) {
			return t
		}
	}
	return nil
}

func (t *table) on(p *page) bool {
	if t.prefix != "" {
		for name := range p.byName {
			if strings.HasPrefix(name, t.prefix) {
				return true
			}
		}
	}
	for _, name := range t.all {
		if len(p.byName[name]) == 0 {
			return false
		}
	}
	return len(t.all) > 0
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

// pick finds the series of a row under the first of the names that the page has. When
// exporters repeat them under two spellings, one spelling is taken.
func (p *page) pick(r *row, names []string, usual []probes.MetricType) []int {
	for _, name := range names {
		var out []int
		spelling := ""
		for _, i := range p.byName[name] {
			s := &p.schema.Series[i]
			if !r.admitsType(s.Type, usual) || strings.HasSuffix(s.Name, "_created") {
				continue
			}
			if spelling == "" {
				spelling = family(s)
			}
			if family(s) == spelling {
				out = append(out, i)
			}
		}
		if out = r.where.filter(p.schema, out); len(out) > 0 {
			return out
		}
	}
	return nil
}

// has reports whether the page has one of the families.
func (p *page) has(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return len(p.byName[name]) > 0 })
}

// lowestRanks leaves out what other ranks than the lowest tell: all tell the same.
func (p *page) lowestRanks(labels []string) *page {
	for _, label := range labels {
		low := math.Inf(1)
		for i := range p.schema.Series {
			if v, err := strconv.ParseFloat(p.schema.Series[i].Label(label), 64); err == nil {
				low = min(low, v)
			}
		}
		if math.IsInf(low, 1) {
			continue
		}
		p = p.only(func(s *probes.Series) bool {
			v, err := strconv.ParseFloat(s.Label(label), 64)
			return err != nil || v == low
		})
	}
	return p
}

// maxInstances bounds the engines told apart behind one page.
const maxInstances = 64

// instances are the values by which the engines behind a page differ, in order; nil
// when there are not at least two.
func (p *page) instances(labels []string) []string {
	seen := map[string]bool{}
	var out []string
	for i := range p.schema.Series {
		if name := instanceOf(&p.schema.Series[i], labels); name != "" && !seen[name] && len(out) < maxInstances {
			seen[name] = true
			out = append(out, name)
		}
	}
	if len(out) < 2 {
		return nil
	}
	slices.SortFunc(out, byNumber)
	return out
}

// byNumber orders names that are numbers as numbers.
func byNumber(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX == nil && errY == nil {
		return x - y
	}
	return strings.Compare(a, b)
}

// instanceOf is the name of the engine that a series belongs to, "" when it does not say.
func instanceOf(s *probes.Series, labels []string) string {
	for _, label := range labels {
		if v := s.Label(label); v != "" {
			return v
		}
	}
	return ""
}

// modelName is the first model on the page; more of them are counted.
func (p *page) modelName(labels []string) string {
	if labels == nil {
		labels = []string{"model_name"}
	}
	var seen []string
	for i := range p.schema.Series {
		if m := instanceOf(&p.schema.Series[i], labels); m != "" && !slices.Contains(seen, m) && len(seen) < 100 {
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
