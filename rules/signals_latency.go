package rules

import "llmtop/probes"

// latencyRows are what users feel. Over the newest 10 s, or 30 s when those hold
// fewer than five observations; exact where the engine tells of each request.
func latencyRows() []Signal {
	var rows []Signal
	rows = append(rows, quantiles("ttft", "TTFT", "arrival until the first token is written; a request still waiting counts with its age once that exceeds the p95 of the others",
		0.020, func(n *now) latency { return n.ttft })...)
	rows = append(rows, quantiles("tpot", "TPOT", "seconds per output token after the first, one value a request", 0.002, func(n *now) latency { return n.tpot })...)
	rows = append(rows, quantiles("e2e", "E2E", "arrival until the last byte is written, finished requests", 0.050, func(n *now) latency { return n.e2e })...)
	for _, q := range []struct {
		name, label string
		q           float64
	}{{"p50", "0.5", 0.50}, {"p95", "0.95", 0.95}, {"p99", "0.99", 0.99}} {
		rows = append(rows, Signal{Name: "step." + q.name, Title: "step " + q.name, Unit: "s", Kind: "latency", Step: 0.005,
			Formula: q.name + " of the time between two tokens of a stream, every step counts" + newest,
			Source:  "the engine's inter-token histogram", Needs: "engine metrics",
			Export: exportName("step", "s", `quantile="`+q.label+`"`),
			bucket: func(n *now) Bucket { return histogramBucket(n.step, q.q) },
			at: func(n *now) probes.Opt[float64] {
				v, _, _ := n.step.Quantile(q.q)
				return v
			}})
	}
	return append(rows, Signal{Name: "step.mean", Title: "mean step", Unit: "s", Kind: "latency", Step: 0.005,
		Formula: "mean of the time between two tokens of a stream, every step counts; with accepted drafts a step yields several tokens" + newest,
		Source:  "the engine's inter-token histogram", Needs: "engine metrics", Export: exportName("step.mean", "s", ""),
		at: func(n *now) probes.Opt[float64] { return n.step.Mean() }})
}

// newest is over what latencies are, and the stages and lengths of their requests.
const newest = "; of the newest 10 s, or 30 s where those hold fewer than five"

func quantiles(name, title, formula string, step float64, of func(*now) latency) []Signal {
	var rows []Signal
	for _, q := range []struct {
		name, label string
		q           float64
	}{{"p50", "0.5", 0.50}, {"p95", "0.95", 0.95}, {"p99", "0.99", 0.99}} {
		rows = append(rows, Signal{Name: name + "." + q.name, Title: title + " " + q.name, Unit: "s", Kind: "latency", Step: step,
			Formula: q.name + " of " + formula + newest, Source: "request records, else the engine's histogram", Needs: "requests or engine metrics",
			Export: exportName(name, "s", `quantile="`+q.label+`"`),
			bucket: func(n *now) Bucket { return of(n).bucketOf(q.q) },
			at:     func(n *now) probes.Opt[float64] { return of(n).quantile(q.q) }})
	}
	return append(rows, Signal{Name: name + ".mean", Title: "mean " + title, Unit: "s", Kind: "latency", Step: step,
		Formula: "mean of " + formula + "; exact from histograms too (sum over count)" + newest, Source: "request records, else the engine's histogram",
		Needs: "requests or engine metrics", Export: exportName(name+".mean", "s", ""),
		at: func(n *now) probes.Opt[float64] { return of(n).mean() }})
}
