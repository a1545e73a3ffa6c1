package rules

import (
	"cmp"
	"math"
	"slices"
	"time"

	"llmtop/probes"
)

// The definition of what request records say at a tick, worked out from the wide span
// alone, one step after the other: what the ledger carries over must give the same.

type plainSeen struct {
	r   *probes.Request
	ago float64
}

type plainRecords struct{ finished, running []plainSeen }

func plainGather(n *now) (out plainRecords) {
	last := map[string]time.Time{}
	for _, p := range n.wide.Points() {
		for _, s := range sections(p) {
			if !s.At.After(last[s.Endpoint]) || !s.At.After(n.at.Add(-wideSpan)) {
				continue
			}
			last[s.Endpoint] = s.At
			for _, r := range s.Finished {
				out.finished = append(out.finished, plainSeen{r, n.at.Sub(s.At).Seconds()})
			}
		}
	}
	for _, s := range sections(n.point) {
		if n.fresh(s.At) {
			for _, r := range s.Running {
				out.running = append(out.running, plainSeen{r, n.at.Sub(s.At).Seconds()})
			}
		}
	}
	return out
}

func (s plainSeen) endedAgo() float64 {
	if s.r.Finish == "" {
		return 0
	}
	return s.ago
}

func (s plainSeen) firstToken() (ttft, ago float64, ok bool) {
	ttft, ok = s.r.TTFTSeconds.Get()
	return ttft, s.ago + max(0, s.r.E2ESeconds.Or(age(s.r))-ttft), ok
}

func (r *plainRecords) set(m measure, last float64) (out []observation) {
	both := [][]plainSeen{r.finished, r.running}
	add := func(v, ago float64, ok bool, of *probes.Request) {
		if ok && ago <= last {
			out = append(out, observation{value: v, ago: ago, of: of})
		}
	}
	switch m {
	case ofTTFT:
		return r.ttfts(last)
	case ofTPOT:
		for _, s := range r.finished {
			v, ok := s.r.TPOTSeconds()
			add(v, s.ago, ok, s.r)
		}
		for _, s := range r.running {
			v, ok := s.r.TPOTSeconds()
			add(v, 0, ok && s.r.OutputTokens >= enough, s.r)
		}
	case ofE2E:
		for _, s := range r.finished {
			v, ok := s.r.E2ESeconds.Get()
			add(v, s.ago, ok && s.r.Finish != "rejected", s.r)
		}
	case ofPrompt:
		for _, s := range slices.Concat(both...) {
			add(float64(s.r.PromptTokens), s.endedAgo(), s.r.PromptTokens > 0, s.r)
		}
	case ofOutput:
		for _, s := range r.finished {
			add(float64(s.r.OutputTokens), s.ago, s.r.OutputTokens > 0, s.r)
		}
	}
	return out
}

func (r *plainRecords) ttfts(last float64) (out []observation) {
	for _, s := range slices.Concat(r.finished, r.running) {
		if v, ago, ok := s.firstToken(); ok && ago <= last {
			out = append(out, observation{value: v, ago: ago, of: s.r})
		}
	}
	p95, _ := plainLatency(out).quantile(0.95).Get()
	for _, s := range slices.Concat(r.running, r.finished) {
		if s.r.TTFTSeconds.Seen() || s.r.Finish == "rejected" || s.r.Finish == "error" {
			continue
		}
		if v := age(s.r); v > p95 && s.endedAgo() <= last {
			out = append(out, observation{value: v, ago: s.endedAgo(), censored: true, of: s.r})
		}
	}
	return out
}

func plainLatency(all []observation) latency {
	l := latency{values: valuesOf(nil, all)}
	slices.Sort(l.values)
	for _, v := range l.values {
		l.sum += v
	}
	return l
}

func (r *plainRecords) measured(m measure) ([]observation, latency, quick) {
	all, wide := r.set(m, nowSpan.Seconds()), false
	if len(all) < enough {
		all, wide = r.set(m, wideSpan.Seconds()), true
	}
	l := plainLatency(all)
	l.wide = wide
	newest := slices.DeleteFunc(slices.Clone(all), func(o observation) bool { return !(o.ago <= recentSpan.Seconds()) })
	if len(newest) < 3 {
		newest = slices.Clone(all)
		slices.SortStableFunc(newest, func(a, b observation) int { return cmp.Compare(a.ago, b.ago) })
		newest = newest[:min(3, len(newest))]
	}
	q := plainLatency(newest)
	return all, l, quick{median: q.quantile(0.5), n: float64(len(newest))}
}

// alike compares numbers to the last bit; what is no number is like what is none.
func alike(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a == 0 && b == 0 || math.IsNaN(a) && math.IsNaN(b)
}
