package truth

import (
	"time"

	"llmtop/probes"
)

// Documented bounds of single signals.
const (
	profileSpan = 2 * time.Minute
	readsSlowly = 5 // seconds
	fewReadings = 4 // that a slope needs
)

func engineRows() []row {
	return []row{
		{"batch.running", func(v view) (float64, bool) { return v.inFlight(running, afterQueue) }},
		{"queue.depth", func(v view) (float64, bool) { return v.inFlight(waiting, inQueue) }},
		{"queue.slope", slope},
		{"queue.oldest", oldest},
		{"kv.usage", func(v view) (float64, bool) { return v.gauge(probes.Scheduler, kvUsage, larger) }},
		{"kv.peak", func(v view) (peak float64, ok bool) {
			if peak, ok = v.gauge(probes.Scheduler, kvUsage, larger); ok {
				for _, m := range v.last(nowSpan) {
					for _, e := range m.engines {
						peak = max(peak, e.KVUsage.Or(0))
					}
				}
			}
			return peak, ok
		}},
		{"kv.preemption_rate", func(v view) (float64, bool) { return v.engineRate(probes.Scheduler, preempted) }},
		{"prefill.per_token", perPromptToken},
		{"step.tokens", func(v view) (float64, bool) { return v.gathered(v.last(nowSpan), stepTokens).quantile(0.99) }},
		{"engine.age", func(v view) (age float64, ok bool) {
			for _, e := range v.now().engines {
				start, told := began(e).Get()
				if a := float64(v.now().At.UnixNano())/1e9 - start; told && a >= 0 && (!ok || a < age) {
					age, ok = a, true
				}
			}
			return age, ok
		}},
	}
}

// inFlight is a gauge of all engines, or counted from their requests.
func (v view) inFlight(of number, match func(stage string) bool) (float64, bool) {
	if x, ok := v.gauge(probes.Scheduler, of, sum); ok || !v.measure().whole {
		return x, ok
	}
	count := 0.0
	for _, s := range v.measure().told {
		for _, r := range s.Running {
			count += one(match(r.State))
		}
	}
	return count, true
}

func inQueue(stage string) bool { return stage == probes.StageQueue.String() }

func afterQueue(stage string) bool {
	for st := probes.StageBatch; st < probes.NumStages; st++ {
		if st.String() == stage {
			return true
		}
	}
	return false
}

// oldest is the longest that a request now waiting has queued.
func oldest(v view) (longest float64, ok bool) {
	m := v.measure()
	if !m.whole {
		return 0, false
	}
	told, all := 0, 0
	for _, s := range m.told {
		told, all = told+len(s.Running), all+s.InFlight
		for _, r := range s.Running {
			if inQueue(r.State) {
				longest = max(longest, r.Stages[probes.StageQueue])
			}
		}
	}
	return longest, longest > 0 || told >= all
}

// slope is the least-squares slope of the waiting gauge over the now span, added up over the
// engines; of the requests' own states where no gauge is told.
func slope(v view) (total float64, ok bool) {
	engines := counters(v.speakers(probes.Scheduler, waiting.told), waiting.told)
	for _, e := range engines {
		if k, told := slopeOf(v.last(nowSpan).readingsOf(e, waiting)); told {
			total, ok = total+k, true
		}
	}
	if len(engines) > 0 {
		return total, ok
	}
	return slopeOf(v.last(nowSpan).readings(func(m *moment) (r reading, ok bool) {
		for _, s := range v.sectionsOf(m) {
			if s.FinishedOnly {
				continue
			}
			r.at, ok = s.At, true
			for _, q := range s.Running {
				r.value += one(inQueue(q.State))
			}
		}
		return r, ok
	}))
}

func slopeOf(rs []reading) (float64, bool) {
	if len(rs) < fewReadings {
		return 0, false
	}
	n, mx, my := float64(len(rs)), 0.0, 0.0
	for _, r := range rs {
		mx, my = mx+r.at.Sub(rs[0].at).Seconds()/n, my+r.value/n
	}
	sxx, sxy := 0.0, 0.0
	for _, r := range rs {
		dx := r.at.Sub(rs[0].at).Seconds() - mx
		sxx, sxy = sxx+dx*dx, sxy+dx*(r.value-my)
	}
	return sxy / sxx, sxx > 0
}

// perPromptToken is prefill seconds over prompt tokens that were not cached.
func perPromptToken(v view) (float64, bool) {
	m := v.measure()
	seconds, tokens := 0.0, 0.0
	if m.exact {
		for _, o := range m.ttft.all {
			if !o.waits && o.of.PromptTokens > 0 {
				seconds += o.of.Stages[probes.StagePrefill]
				tokens += float64(o.of.PromptTokens - o.of.CachedTokens)
			}
		}
	}
	if !m.whole && tokens <= 0 {
		span := v.last(nowSpan)
		seconds = v.gathered(span, prefillTimes).total()
		tokens = v.gathered(span, promptLengths).total() - v.notComputed(span)
	}
	return seconds / max(tokens, 1e-9), tokens > 0 && seconds > 0
}

// notComputed are the prompt tokens that were found in a cache or received, by the engine's
// counts of tokens by source, else by its hits.
func (v view) notComputed(span view) float64 {
	found, _, ok := v.gained(span, probes.Prompts, cached)
	got, _, ok2 := v.gained(span, probes.Prompts, received)
	if _, _, told := v.gained(span, probes.Prompts, computed); told && (ok || ok2) {
		return found + got
	}
	hits, _, _ := v.gained(span, probes.Prompts, prefixHits)
	return hits
}
