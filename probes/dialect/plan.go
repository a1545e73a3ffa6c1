package dialect

import (
	"iter"
	"strings"

	"llmtop/probes"
)

// plan is a table applied to one page shape: which series make up which reading. For a
// page with several engines there is one for each of them besides.
type plan struct {
	table    *table
	instance string
	only     string
	model    string
	role     probes.Role
	atFinish bool
	origins  map[string]probes.Origin
	numbers  []numberPlan
	fixed    []fixedPlan
	hists    []histogramPlan
	ratios   []countedPlan
	waits    []waitPlan
	parts    []*plan
}

// waitPlan is a part of the waiting requests.
type waitPlan struct {
	name string
	of   *numberPlan
}

// compile maps a page shape, nil when no dialect knows it.
func compile(schema *probes.Schema) *plan {
	whole := newPage(schema)
	t := whole.recognise()
	if t == nil {
		return nil
	}
	whole = whole.lowestRanks(t.ranks, t.instances)
	p := t.compile(whole)
	names := whole.instances(t)
	if len(names) == 1 {
		p.only = names[0]
		return p
	}
	for _, name := range names {
		part := t.compile(whole.only(func(s *probes.Series) bool { return instanceOf(s, t.instances) == name }))
		part.instance = name
		if part.model == "" {
			part.model = p.model
		}
		p.parts = append(p.parts, part)
	}
	return p
}

func (t *table) compile(on *page) *plan {
	p := &plan{table: t, model: on.telling(t.modelIn).modelName(t.model), role: t.roleOn(on), atFinish: t.finishes && !on.has(t.atFinish), origins: map[string]probes.Origin{}}
	for i := range t.rows {
		r := &t.rows[i]
		of, known := probes.LookupEngineReading(r.of)
		if _, done := p.origins[r.of]; done || !known || !r.fits(on) {
			continue
		}
		if p.take(on, r, of) {
			p.origins[r.of] = r.origin()
		}
	}
	for i := range t.waits {
		p.waits = append(p.waits, t.waits[i].compile(on)...)
	}
	return p
}

// fits reports whether the page has and lacks what a row says.
func (r *row) fits(on *page) bool {
	return (len(r.needs) == 0 || on.has(r.needs)) && !on.has(r.lacks)
}

// take plans a row; false when the page cannot fill it.
func (p *plan) take(on *page, r *row, of probes.EngineReading) bool {
	usual := usualTypes(of, r)
	switch {
	case of.Histogram != nil && r.count != nil:
		c, ok := compileCounted(on, r, of, usual)
		if ok {
			p.ratios = append(p.ratios, c)
		}
		return ok
	case of.Histogram != nil:
		h, ok := compileHistogram(on, r, of, usual)
		if ok {
			p.hists = append(p.hists, h)
		}
		return ok
	case len(r.label) > 0:
		v, ok := labelNumber(on.schema, on.pick(r, r.names, usual), r)
		if ok {
			p.fixed = append(p.fixed, fixedPlan{of, v * r.factor()})
		}
		return ok
	}
	n, ok := compileNumber(on, r, of.Join, usual)
	if ok {
		n.reading, n.whole = of, of.Counts()
		p.numbers = append(p.numbers, n)
	}
	return ok
}

// roleOn is what an instance does, by its role label where it has one. A page of
// instances with several roles does all of it.
func (t *table) roleOn(on *page) probes.Role {
	if t.roleLabel == "" {
		return t.role
	}
	found, any := t.role, false
	for _, s := range on.series() {
		role, known := t.roles[s.Label(t.roleLabel)]
		switch {
		case !known:
		case any && role != found:
			return t.role
		default:
			found, any = role, true
		}
	}
	return found
}

// maxWaits bounds the parts of the waiting requests.
const maxWaits = 32

func (w *waitRow) compile(on *page) []waitPlan {
	r := &row{names: w.names, where: w.where}
	series := on.pick(r, r.names, gauges)
	if len(series) == 0 || on.has(w.lacks) {
		return nil
	}
	if w.by == "" {
		return []waitPlan{{w.name, &numberPlan{groups: groups(on.schema, series, r.pids), scale: 1}}}
	}
	byName := map[string][]int{}
	var order []string
	for _, i := range series {
		name := on.schema.Series[i].Label(w.by)
		if name == "" || len(order) >= maxWaits {
			continue
		}
		if byName[name] == nil {
			order = append(order, name)
		}
		byName[name] = append(byName[name], i)
	}
	var out []waitPlan
	for _, name := range order {
		out = append(out, waitPlan{name, &numberPlan{groups: groups(on.schema, byName[name], r.pids), scale: 1}})
	}
	return out
}

func splitStars(names string) iter.Seq[string] { return strings.SplitSeq(names, "*") }
