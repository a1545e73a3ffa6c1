package rules

import (
	"slices"
	"time"

	"llmtop/probes"
)

// logRows are what the engines' logs count. A rate is of the now span; what happens once and
// matters for long (an error) is counted over the wide span. Lines are counted, not what they
// tell of: an engine prints some errors once a rank. Where lines had to be left out to keep up
// the numbers are too low. Without a log, or with one that is not read now, they are missing.
func logRows() []Signal {
	row := func(name, title, unit string, step float64, formula string, at func(*now) probes.Opt[float64]) Signal {
		return Signal{Name: name, Title: title, Unit: unit, Kind: "log", Step: step, Formula: formula,
			Source: "the engine's log (--log)", Needs: "log", Export: exportName(name, unit, ""), at: at}
	}
	rate := func(name, title, formula string, kinds ...string) Signal {
		return row(name, title, "1/s", 0.1, formula, func(n *now) probes.Opt[float64] { return n.logRate(kinds...) })
	}
	count := func(name, title, formula string, kinds ...string) Signal {
		return row(name, title, "count", 1, formula, func(n *now) probes.Opt[float64] {
			lines, _ := n.logIncrease(&n.wide, kinds...)
			return lines
		})
	}
	return []Signal{
		rate("log.preemption_rate", "preemptions logged", "lines a second that tell of a preemption or retraction; vLLM prints some of them", "preemption", "retraction"),
		rate("log.kv_pool_full_rate", "KV pool full, logged", "lines a second that say that the KV cache has no room", "kv-pool-full"),
		rate("log.overloaded_rate", "refusals logged", "lines a second that tell of a refused request", "overloaded"),
		rate("log.request_failure_rate", "failed requests logged", "lines a second that tell of a request that failed", "request-failed"),
		rate("log.graph_capture_rate", "graph captures", "lines a second that tell of a captured CUDA graph", "graph-capture"),
		rate("log.jit_rate", "JIT compilations", "lines a second that tell of a kernel or graph compiled at run time", "jit-compile"),
		rate("log.context_shift_rate", "context shifts", "lines a second that tell of a prompt's middle thrown away", "context-shift"),
		rate("log.reprocess_rate", "prompts processed anew", "lines a second that tell of a prompt processed anew for want of a usable cache", "reprocess"),
		rate("log.lora_rate", "LoRA loads", "lines a second that tell of an adapter loaded or unloaded", "lora"),
		rate("log.slow_step_rate", "slow steps logged", "lines a second that tell of a step of a second or more", "slow-step"),
		count("log.oom", "out of memory", "lines of the wide span that tell of memory that was not to be had, of a GPU or the host", "oom"),
		count("log.xid", "Xids logged", "lines of the wide span in which the driver reports an error of a GPU", "xid"),
		count("log.nccl", "NCCL troubles", "lines of the wide span that tell of a collective that failed or timed out", "nccl"),
		count("log.stalled", "stalls logged", "lines of the wide span in which an engine waits for a part of itself", "stalled"),
		count("log.failures", "failures logged", "lines of the wide span that tell of an engine's end or of what soon ends it", "engine-died", "cuda-error", "nccl", "xid", "oom"),
	}
}

// logRate is how many lines of these kinds came a second over the now span.
func (n *now) logRate(kinds ...string) probes.Opt[float64] {
	lines, seconds := n.logIncrease(&n.span, kinds...)
	x, ok := lines.Get()
	if !ok || seconds <= 0 {
		return lines
	}
	return probes.Some(x / seconds)
}

// logIncrease adds up how many lines of these kinds all logs counted over a span; seconds is
// the longest stretch. A kind that a log has not counted is 0 in it.
func (n *now) logIncrease(over *lookback, kinds ...string) (sum probes.Opt[float64], seconds float64) {
	out := missing()
	for _, l := range n.point.Logs {
		if !n.fresh(l.At) {
			if !out.Seen() { // a log that is read no more takes nothing from the others
				out = probes.None[float64](probes.Stale)
			}
			continue
		}
		lines, secs := over.Increase(func(p *probes.Point) (float64, time.Time, bool) {
			i := slices.IndexFunc(p.Logs, func(other *probes.EngineLog) bool { return other.Source == l.Source })
			if i < 0 {
				return 0, time.Time{}, false
			}
			return counted(p.Logs[i], kinds), p.Logs[i].At, true
		})
		if x, ok := lines.Get(); ok {
			out, seconds = probes.Some(out.Or(0)+x), max(seconds, secs)
		}
	}
	return out, seconds
}

// counted is how many lines of these kinds a log has counted.
func counted(l *probes.EngineLog, kinds []string) (total float64) {
	for i := range l.Counts {
		if slices.Contains(kinds, l.Counts[i].Kind) {
			total += l.Counts[i].Total
		}
	}
	return total
}
