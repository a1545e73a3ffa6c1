package dialect

import (
	"cmp"
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

// series are the series of the page in their order.
func (p *page) series() []*probes.Series {
	var at []int
	for _, of := range p.byName {
		at = append(at, of...)
	}
	slices.Sort(at)
	out := make([]*probes.Series, len(at))
	for i := range at {
		out[i] = &p.schema.Series[at[i]]
	}
	return out
}

// telling is the page with some families alone, or all of it when it has none of them.
func (p *page) telling(names []string) *page {
	if !p.has(names) {
		return p
	}
	out := &page{schema: p.schema, byName: map[string][]int{}}
	for _, name := range names {
		out.byName[name] = p.byName[name]
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
		if len(t.with.filter(p.schema, p.byName[name])) == 0 {
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
			if !r.admitsType(toldType(s), usual) || strings.HasSuffix(s.Name, "_created") {
				continue
			}
			if spelling == "" {
				spelling = spelt(s)
			}
			if spelt(s) == spelling {
				out = append(out, i)
			}
		}
		if out = r.where.filter(p.schema, out); len(out) > 0 {
			return out
		}
	}
	return nil
}

// spelt is how a series' name is spelt, without what a histogram's series add to it.
func spelt(s *probes.Series) string {
	if s.Type == probes.Counter || s.Type == probes.Gauge {
		return s.Name
	}
	return family(s)
}

// has reports whether the page has one of the families.
func (p *page) has(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return len(p.byName[name]) > 0 })
}

// lowestRanks leaves out what other ranks than the lowest tell: all tell the same. Each
// instance has ranks of its own: they may be counted on from one instance to the next.
func (p *page) lowestRanks(ranks, instances []string) *page {
	for _, label := range ranks {
		low := map[string]int{}
		for _, s := range p.series() {
			if v, err := strconv.Atoi(s.Label(label)); err == nil {
				of := allOf(s, instances)
				if known, any := low[of]; !any || v < known {
					low[of] = v
				}
			}
		}
		if len(low) == 0 {
			continue
		}
		p = p.only(func(s *probes.Series) bool {
			v, err := strconv.Atoi(s.Label(label))
			return err != nil || v == low[allOf(s, instances)]
		})
	}
	return p
}

// allOf is the values of labels as text.
func allOf(s *probes.Series, labels []string) string {
	out := ""
	for _, label := range labels {
		out += strconv.Quote(s.Label(label))
	}
	return out
}

// MaxInstances bounds the engines told apart behind one page.
const MaxInstances = 64

// instances are the values by which the engines behind a page differ, in order. What is
// around an engine may have the same labels: where a prefix tells its families they
// alone are asked.
func (p *page) instances(t *table) []string {
	seen := map[string]bool{}
	var out []string
	for family, series := range p.byName {
		if !strings.HasPrefix(family, t.prefix) {
			continue
		}
		for _, i := range series {
			if name := instanceOf(&p.schema.Series[i], t.instances); name != "" && !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	slices.SortFunc(out, byNumber)
	return out[:min(len(out), MaxInstances)]
}

// byNumber orders names that are numbers as numbers.
func byNumber(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX == nil && errY == nil && x != y {
		return cmp.Compare(x, y)
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

// modelName is the first model on the page; more of them are counted. Of spellings that
// differ in case alone the one with capitals is taken: some exporters lower them in part.
func (p *page) modelName(labels []string) string {
	if labels == nil {
		labels = []string{"model_name"}
	}
	var seen []string
	for _, s := range p.series() {
		m := instanceOf(s, labels)
		if m == "" || len(seen) >= 100 {
			continue
		}
		if at := slices.IndexFunc(seen, func(s string) bool { return strings.EqualFold(s, m) }); at >= 0 {
			seen[at] = min(seen[at], m)
		} else {
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
