package truth

import (
	"math"

	"llmtop/probes"
)

// counts are what a histogram gathered over a span: cumulative over buckets.
type counts struct {
	bounds, upTo []float64
	n, sum       float64
}

// histogram reads one of an engine's histograms, told on one side of a request.
type histogram struct {
	side probes.Side
	of   func(*probes.Engine) *probes.Histogram
}

var (
	ttftTimes     = histogram{probes.Client, func(e *probes.Engine) *probes.Histogram { return e.TTFT }}
	tpotTimes     = histogram{probes.Tokens, func(e *probes.Engine) *probes.Histogram { return e.TPOT }}
	stepTimes     = histogram{probes.Tokens, func(e *probes.Engine) *probes.Histogram { return e.StepTime }}
	e2eTimes      = histogram{probes.Client, func(e *probes.Engine) *probes.Histogram { return e.E2E }}
	frontendTimes = histogram{probes.Client, func(e *probes.Engine) *probes.Histogram { return e.Frontend }}
	queueTimes    = histogram{probes.Prompts, func(e *probes.Engine) *probes.Histogram { return e.Queue }}
	prefillTimes  = histogram{probes.Prompts, func(e *probes.Engine) *probes.Histogram { return e.Prefill }}
	decodeTimes   = histogram{probes.Tokens, func(e *probes.Engine) *probes.Histogram { return e.Decode }}
	promptLengths = histogram{probes.Client, func(e *probes.Engine) *probes.Histogram { return e.PromptLen }}
	outputLengths = histogram{probes.Client, func(e *probes.Engine) *probes.Histogram { return e.OutputLen }}
	stepTokens    = histogram{probes.Scheduler, func(e *probes.Engine) *probes.Histogram { return e.StepTokens }}
)

func (h histogram) told(e *probes.Engine) bool { return h.of(e) != nil }

// gathered is what a histogram gathered over a span at all engines; nil where none tells.
func (v view) gathered(span view, h histogram) (total *counts) {
	for _, e := range counters(v.speakers(h.side, h.told), h.told) {
		total = together(total, span.gatheredBy(e, h))
	}
	return total
}

// gatheredBy is the last reading less the first, or reading by reading where the engine
// began anew in between; nil with fewer than two, or where the buckets changed.
func (v view) gatheredBy(e *probes.Engine, h histogram) *counts {
	var list []*probes.Histogram
	var last *probes.Engine
	for _, m := range v {
		then := sameIn(m, e)
		if then == nil || h.of(then) == nil || last != nil && then.At.Equal(last.At) {
			continue
		}
		if last != nil && then.At.Before(last.At) {
			list = nil
		}
		list, last = append(list, h.of(then)), then
	}
	if len(list) < 2 {
		return nil
	}
	out := &counts{bounds: list[0].Bounds, upTo: make([]float64, len(list[0].Bounds))}
	from := list[0]
	for i := 1; i < len(list); i++ {
		if len(list[i].Bounds) != len(out.bounds) || len(list[i].Cumulative) != len(out.upTo) {
			return nil
		}
		if anew(list[i-1], list[i]) {
			out.add(list[i-1], from)
			from = &probes.Histogram{Cumulative: make([]float64, len(out.upTo))}
		}
	}
	out.add(list[len(list)-1], from)
	return out
}

func (c *counts) add(to, from *probes.Histogram) {
	c.n += to.Count - from.Count
	c.sum += math.Max(to.Sum-from.Sum, 0)
	for i := range c.upTo {
		c.upTo[i] += to.Cumulative[i] - from.Cumulative[i]
	}
}

// anew reports that b does not go on with a.
func anew(a, b *probes.Histogram) bool {
	if b.Count < a.Count || b.Sum < a.Sum*(1-1e-9) {
		return true
	}
	for i := range a.Cumulative {
		if b.Cumulative[i] < a.Cumulative[i] {
			return true
		}
	}
	return false
}

// together adds two up; of different buckets the bounds that both have are kept.
func together(a, b *counts) *counts {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := &counts{n: a.n + b.n, sum: a.sum + b.sum}
	for i, bound := range a.bounds {
		for j := range b.bounds {
			if b.bounds[j] == bound {
				out.bounds, out.upTo = append(out.bounds, bound), append(out.upTo, a.upTo[i]+b.upTo[j])
			}
		}
	}
	return out
}

// asCounts is a histogram from its beginning on.
func asCounts(h *probes.Histogram) *counts {
	if h == nil {
		return nil
	}
	return &counts{bounds: h.Bounds, upTo: h.Cumulative, n: h.Count, sum: h.Sum}
}

// quantile interpolates in the bucket that holds it, as Prometheus does; beyond the last
// bound it is that bound.
func (c *counts) quantile(q float64) (float64, bool) {
	if c == nil || c.n <= 0 || len(c.bounds) == 0 {
		return 0, false
	}
	low, below := 0.0, 0.0
	for i, high := range c.bounds {
		if in := c.upTo[i] - below; c.upTo[i] >= q*c.n && c.upTo[i] > 0 {
			if i == 0 && high <= 0 || in <= 0 {
				return high, true
			}
			return low + (high-low)*math.Min(1, math.Max(0, (q*c.n-below)/in)), true
		}
		low, below = high, c.upTo[i]
	}
	return low, true
}

func (c *counts) mean() (float64, bool) {
	if c == nil || c.n <= 0 {
		return 0, false
	}
	return c.sum / c.n, true
}

// count and meanOr0 read counts that may not be there.
func (c *counts) count() float64 {
	if c == nil {
		return 0
	}
	return c.n
}

func (c *counts) total() float64 {
	if c == nil {
		return 0
	}
	return c.sum
}

func (c *counts) meanOr0() float64 {
	mean, _ := c.mean()
	return mean
}
