package panes

import (
	"llmtop/probes"
	"llmtop/rules"
)

// latencies are the rows of the latency pane.
var latencies = [...]struct{ label, signal string }{{"TTFT", "ttft"}, {"TPOT", "tpot"}, {"E2E", "e2e"}}

// latenciesOf are the rows shown: the time of a step where drafts are verified, since a
// step then yields several tokens and is no time per token.
func latenciesOf(v *view) []struct{ label, signal string } {
	if !v.sig("spec.acceptance").Seen() || !v.sig("step.mean").Seen() {
		return latencies[:]
	}
	return append(latencies[:len(latencies):len(latencies)], struct{ label, signal string }{"step", "step"})
}

// quantiles are the columns; the mean is exact also where a histogram only knows buckets.
var quantiles = [...]string{"p50", "p95", "p99", "mean"}

// latencyWidths of the columns: name, quantile, change against the baseline, sparkline.
func latencyWidths(w int) (name, quantile, against, spark int) {
	name, quantile, against = 6, 9, 18
	if w < 66 {
		name, quantile, against = 5, 8, 8
	}
	return name, quantile, against, max(0, w-1-name-latencyQuantiles(w)*quantile-2-against-1)
}

// latencyQuantiles is how many of p50, p95, p99 and mean there is room for.
func latencyQuantiles(w int) int {
	switch {
	case w < 46:
		return 2
	case w < 76:
		return 3
	}
	return len(quantiles)
}

// latencyHead names the columns.
func latencyHead(v *view, w int) row {
	name, quantile, against, spark := latencyWidths(w)
	r := row{}.add(plain, spaces(1+name))
	for _, q := range quantiles[:latencyQuantiles(w)] {
		r = r.right(faint, quantile, q)
	}
	r = r.add(plain, "  ").left(faint, against, "p95 against normal")
	return r.add(plain, " ").left(faint, spark, "p95, "+v.history(spark))
}

// latencyRows are TTFT, TPOT and E2E: quantiles, the p95 against its baseline, its history.
func latencyRows(v *view, w int) []row {
	name, quantile, against, spark := latencyWidths(w)
	at := v.engineAt()
	age, isOld := v.age(at)
	var rows []row
	for _, l := range latenciesOf(v) {
		r := row{}.add(plain, " ").left(strong, name, l.label)
		for i, q := range quantiles[:latencyQuantiles(w)] {
			t := plain
			if i == 1 {
				t = strong
			}
			if v.symptomatic(l.signal + "." + q) {
				t = bad
			}
			r = r.right(v.fresh(at, t), quantile, v.quantile(l.signal+"."+q))
		}
		r = r.add(plain, "  ")
		switch {
		case isOld:
			r = r.left(old, against, ago(age)+" old")
		case l.signal == "step":
			r = r.left(faint, against, "drafts "+show(v.sig("spec.acceptance"), percent))
		default:
			r = append(r, againstBaseline(v, l.signal+".p95", against)...)
		}
		rows = append(rows, r.add(plain, " ").add(v.fresh(at, link), v.sparkline(l.signal+".p95", spark)))
	}
	return rows
}

// againstBaseline is an arrow, the factor and the baseline: "↑ ×20 of 120 ms".
func againstBaseline(v *view, signal string, w int) row {
	base := v.baseline(signal)
	sign, factor, t := compare(v.sig(signal), base)
	if v.symptomatic(signal) {
		t = bad
	}
	text := sign + factor
	if b, ok := base.Get(); ok && w >= 16 {
		text = cut(text, 7)
		return row{}.left(t, 8, text).left(faint, w-8, "of "+amount(b, signalUnit(signal)))
	}
	return row{}.left(t, w, text)
}

// compare holds a value against its baseline. Within ±30 % it counts as normal:
// 1.3 is the trigger the rules use for a symptom.
func compare(value, base probes.Opt[float64]) (sign, factor string, t tone) {
	now, ok := value.Get()
	before, okBefore := base.Get()
	switch {
	case !ok || !okBefore || before <= 0:
		return missing, "", faint
	case now >= before*1.3:
		sign, t = "↑", warn
	case now*1.3 <= before:
		sign, t = "↓", good
	default:
		return "≈", "", faint
	}
	ratio := now / before
	if ratio > 99.5 {
		return sign, " ×>99", t
	}
	return sign, " ×" + digits(ratio), t
}

// quantile prints a signal in seconds, and where a histogram tells it no more than that
// knows: "<300 ms" in its lowest bucket, ">80 s" beyond its last bound.
func (v *view) quantile(signal string) string {
	return show(v.sig(signal), func(x float64) string { return bucketed(v.tick.Bucket(signal), x, seconds) })
}

func bucketed(b rules.Bucket, x float64, print func(float64) string) string {
	switch {
	case b.Beyond():
		return ">" + print(b.Low)
	case b.Below():
		return "<" + print(b.High)
	}
	return print(x)
}
