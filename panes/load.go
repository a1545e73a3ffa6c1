package panes

import (
	"slices"

	"llmtop/probes"
)

// loadLine is a number of the load pane with its history.
type loadLine struct{ label, signal string }

var loadLines = [...]loadLine{
	{"tokens out", "tokens.out.rate"},
	{"tokens in", "tokens.in.rate"},
	{"requests", "requests.rate"},
	{"arriving", "arrivals.rate"},
	{"running", "batch.running"},
	{"queue", "queue.depth"},
}

// loadRows is the tall form: a line and a sparkline each, then the KV cache.
func loadRows(v *view, w int) []row {
	at := v.engineAt()
	var rows []row
	for _, l := range loadLines {
		r := row{}.add(plain, " ").left(strong, 12, l.label)
		r = r.right(v.fresh(at, loadTone(v, l.signal)), 12, loadValue(v, l.signal))
		note := faint
		if t := errorTone(v); l.signal == "requests.rate" && t == bad {
			note = t
		}
		r = r.add(plain, "  ").left(v.fresh(at, note), 26, loadNote(v, l.signal))
		rows = append(rows, r.add(plain, " ").add(v.fresh(at, link), v.sparkline(l.signal, max(0, w-54))))
	}
	return append(rows, kvRow(v, w))
}

func loadValue(v *view, signal string) string {
	return show(v.sig(signal), func(x float64) string { return amount(x, signalUnit(signal)) })
}

func loadTone(v *view, signal string) tone {
	if v.symptomatic(signal) {
		return bad
	}
	if signal == "queue.depth" && v.sig("queue.slope").Or(0) > 0 && v.sig(signal).Or(0) >= 1 {
		return warn
	}
	return plain
}

// loadNote is what belongs beside a number: the oldest in the queue, errors, lengths.
func loadNote(v *view, signal string) string {
	switch signal {
	case "queue.depth":
		if waits := allWaits(v); waits != "" {
			return slopeSign(v.sig("queue.slope")) + " " + waits
		}
		if oldest, ok := v.sig("queue.oldest").Get(); ok && oldest > 0 {
			return slopeSign(v.sig("queue.slope")) + " oldest waits " + seconds(oldest)
		}
		return slopeSign(v.sig("queue.slope")) + " nobody waits"
	case "requests.rate":
		return "failed " + show(v.sig("errors.rate"), func(x float64) string { return count(x) + "/s" })
	case "tokens.in.rate":
		return "prompt p50 " + show(v.sig("prompt.p50"), count) + "  p95 " + show(v.sig("prompt.p95"), count)
	case "tokens.out.rate":
		return "answer p50 " + show(v.sig("output.p50"), count)
	case "batch.running":
		return "prefix hits " + show(v.sig("prefix.hit_ratio"), percent)
	}
	return ""
}

// allWaits says what the waiting requests are waiting for, where an engine tells more
// than one part.
func allWaits(v *view) string {
	var all []probes.Wait
	for _, e := range v.tick.Point.Engines {
		for _, w := range e.Waits {
			i := slices.IndexFunc(all, func(a probes.Wait) bool { return a.Name == w.Name })
			if i < 0 {
				all = append(all, probes.Wait{Name: w.Name})
				i = len(all) - 1
			}
			all[i].Depth += w.Depth
		}
	}
	return waitsText(all)
}

func errorTone(v *view) tone {
	if v.sig("errors.rate").Or(0) > 0 {
		return bad
	}
	return plain
}

// slopeSign says whether the queue grows.
func slopeSign(slope probes.Opt[float64]) string {
	value, ok := slope.Get()
	switch {
	case !ok:
		return " "
	case value > 0.05:
		return "↑"
	case value < -0.05:
		return "↓"
	}
	return "→"
}

func kvTone(v *view) tone {
	at := v.engineAt()
	switch usage := v.sig("kv.usage").Or(0); {
	case usage >= 0.95:
		return v.fresh(at, bad)
	case usage >= 0.85: // the headroom of 15–20 % is gone
		return v.fresh(at, warn)
	}
	return v.fresh(at, link)
}

// kvRow is the KV cache: a bar, the share in use, preemptions.
func kvRow(v *view, w int) row {
	at := v.engineAt()
	r := row{}.add(plain, " ").left(strong, 12, "KV cache")
	r = r.right(kvTone(v), 12, show(v.sig("kv.usage"), percent))
	r = r.add(plain, "  ").left(v.fresh(at, faint), 26, "preempted "+show(v.sig("kv.preemption_rate"), func(x float64) string { return count(x) + "/s" }))
	return r.add(plain, " ").add(kvTone(v), bar(v.sig("kv.usage"), max(0, w-54)))
}

// loadRowsCompact says the same in two lines of 80 cells.
func loadRowsCompact(v *view, w int) []row {
	at := v.engineAt()
	t := v.fresh(at, plain)
	rate := func(name string) string { return show(v.sig(name), count) }
	first := row{}.add(strong, " tok/s").add(faint, "  out").right(v.fresh(at, strong), 6, rate("tokens.out.rate")).
		add(faint, "  in").right(t, 6, rate("tokens.in.rate")).
		add(strong, "   req/s").add(faint, "  arrive").right(t, 6, rate("arrivals.rate")).
		add(faint, "  done").right(t, 6, rate("requests.rate")).
		add(faint, "  failed").right(v.fresh(at, errorTone(v)), 6, rate("errors.rate"))
	second := row{}.add(strong, " running ").right(t, 4, rate("batch.running")).
		add(strong, "   queue ").right(v.fresh(at, loadTone(v, "queue.depth")), 5, rate("queue.depth")).
		add(t, " "+slopeSign(v.sig("queue.slope"))).
		add(faint, " oldest ").right(t, 6, show(v.sig("queue.oldest"), seconds)).
		add(strong, "   KV ").add(kvTone(v), bar(v.sig("kv.usage"), max(0, min(24, w-72)))).
		right(kvTone(v), 6, show(v.sig("kv.usage"), percent)).
		add(faint, "  preempt ").add(t, show(v.sig("kv.preemption_rate"), func(x float64) string { return count(x) + "/s" }))
	return []row{first, second}
}

// loadRowsSmall is for 40 cells.
func loadRowsSmall(v *view, w int) []row {
	at := v.engineAt()
	t := v.fresh(at, plain)
	first := row{}.add(strong, " queue").right(v.fresh(at, loadTone(v, "queue.depth")), 5, show(v.sig("queue.depth"), count)).
		add(t, slopeSign(v.sig("queue.slope"))).
		add(strong, " run").right(t, 5, show(v.sig("batch.running"), count)).
		add(strong, " KV").right(kvTone(v), 6, show(v.sig("kv.usage"), percent))
	second := row{}.add(strong, " tok/s").right(t, 5, show(v.sig("tokens.out.rate"), count)).
		add(strong, "  req/s").right(t, 5, show(v.sig("requests.rate"), count)).
		add(strong, " CPU").right(v.fresh(hostAt(v), plain), 6, show(v.sig("host.cpu_busy"), percent))
	return []row{first, second}
}
