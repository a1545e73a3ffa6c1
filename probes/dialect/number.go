package dialect

import (
	"math"

	"llmtop/probes"
)

// numberPlan is a number made of series. A group is what one engine told: series of
// a group are copies of one gauge that a multi-process exporter left behind.
type numberPlan struct {
	reading probes.EngineReading
	groups  [][]int // indices into the page
	join    probes.Join
	whole   bool        // a counter: without the number of one group there is none, for what is left would look like a restart
	over    *numberPlan // divided by it
	times   *numberPlan // multiplied by it
	less    *numberPlan // what is taken off
	gate    *numberPlan // told only while this is above 0
	scale   float64
}

// fixedPlan is a reading whose number stands in a label.
type fixedPlan struct {
	reading probes.EngineReading
	value   float64
}

func compileNumber(on *page, r *row, join probes.Join, usual []probes.MetricType) (numberPlan, bool) {
	series := on.sums(r, r.names, usual)
	if len(series) == 0 {
		return numberPlan{}, false
	}
	for _, name := range r.plus {
		series = append(series, on.sums(r, []string{name}, usual)...)
	}
	n := numberPlan{groups: groups(on.schema, series, r.pids), join: join, scale: r.factor()}
	if len(r.over) > 0 {
		below := on.pick(&row{where: r.per}, r.over, anyNumber)
		if len(below) == 0 {
			return numberPlan{}, false
		}
		n.join = probes.Sum // used over all, not the mean of shares
		n.over = &numberPlan{groups: groups(on.schema, below, sameThing), scale: 1}
	}
	if len(r.times) > 0 {
		factor := on.pick(&row{where: r.per}, r.times, anyNumber)
		if len(factor) == 0 {
			return numberPlan{}, false
		}
		n.times = &numberPlan{groups: groups(on.schema, factor, sameThing), join: probes.Highest, scale: 1}
	}
	var hasLess, hasGate bool
	n.less, hasLess = compileBeside(on, r, r.less)
	n.gate, hasGate = compileBeside(on, r, r.gate)
	return n, hasLess && hasGate
}

// compileBeside plans a number that a row takes off or depends on; false when the row
// names one and the page has none.
func compileBeside(on *page, r *row, names []string) (*numberPlan, bool) {
	if len(names) == 0 {
		return nil, true
	}
	series := on.pick(&row{where: r.where}, names, anyNumber)
	return &numberPlan{groups: groups(on.schema, series, sameThing), scale: 1}, len(series) > 0
}

// groups parts series that differ in more than their pid.
func groups(schema *probes.Schema, series []int, pids copies) [][]int {
	var out [][]int
	at := map[string]int{}
	for _, i := range series {
		key := schema.Series[i].Name + identity(&schema.Series[i], "pid")
		g, known := at[key]
		if !known || pids == eachOwn {
			g = len(out)
			at[key] = g
			out = append(out, nil)
		}
		out[g] = append(out[g], i)
	}
	return out
}

// read joins the groups; groups without a number are left out.
func (n *numberPlan) read(values []float64) probes.Opt[float64] {
	total, any := 0.0, false
	for _, group := range n.groups {
		v, ok := highest(values, group)
		switch {
		case ok:
		case n.whole:
			return probes.None[float64](probes.NotExposed)
		default:
			continue
		}
		switch {
		case !any:
			total = v
		case n.join == probes.Highest:
			total = max(total, v)
		case n.join == probes.Lowest:
			total = min(total, v)
		default:
			total += v
		}
		any = true
	}
	if any && n.over != nil {
		below, ok := n.over.read(values).Get()
		if any = ok && below > 0; any {
			total /= below
		}
	}
	if any && n.times != nil {
		factor, ok := n.times.read(values).Get()
		any, total = ok, total*factor
	}
	if any && n.less != nil {
		off, ok := n.less.read(values).Get()
		any, total = ok, max(0, total-off)
	}
	if any && n.gate != nil {
		any = n.gate.read(values).Or(0) > 0
	}
	total *= n.scale
	if n.reading.Unit == "ratio" {
		total, any = share(total, any)
	}
	if !any || math.IsNaN(total) || math.IsInf(total, 0) {
		return probes.None[float64](probes.NotExposed)
	}
	return probes.Some(total)
}

// share is a ratio that can be one: a little more than 1 is rounding, more is of another
// unit (SGLang said 0 to 100 for a while in 2024), and vLLM V0 says -1 when prefix caching is off.
func share(v float64, told bool) (float64, bool) {
	if v < 0 || v > 1.05 {
		return 0, false
	}
	return min(v, 1), told
}

// highest of the copies of one gauge; mostly there is one.
func highest(values []float64, group []int) (v float64, ok bool) {
	for _, i := range group {
		if x := values[i]; !math.IsNaN(x) && !math.IsInf(x, 0) && (!ok || x > v) {
			v, ok = x, true
		}
	}
	return v, ok
}

// labelNumber reads the number of an info series, summed over engines.
func labelNumber(schema *probes.Schema, series []int, r *row) (total float64, ok bool) {
	for _, i := range series {
		for _, label := range r.label {
			if v, found := labelValue(&schema.Series[i], label); found {
				total += v
				ok = true
				break
			}
		}
	}
	return total, ok && !math.IsInf(total, 0)
}
