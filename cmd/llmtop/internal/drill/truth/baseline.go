package truth

import (
	"fmt"
	"math"
	"strings"
	"time"

	"llmtop/probes"
)

// said is what the diagnosis of a moment said of its baseline.
type said struct {
	baseline string    // in words
	began    time.Time // onset of the symptoms that stand, zero without
}

// onsetLag is how long before an onset the healthy part ends.
const onsetLag = 5 * time.Second

const fewTicks = 5 // readings that a median needs

// stretch is from after its begin to its end.
type stretch struct{ from, to time.Time }

// usual is the baseline that a moment names.
type usual struct {
	text    string
	ticks   []int // of the past, that are its healthy part
	window  bool
	life    bool
	unknown bool // it reaches back further than what is held
	parts   split3
	count   float64 // requests
	told    float64 // requests, as the text says
}

// usualAt is what was usual at moment k, after the words that it is told in: the healthy part
// of the window between two times, the engine's life until the first sample, or nothing.
// Healthy is all but what lies between 5 s before an onset and the end of the symptoms.
func (c *Checker) usualAt(k int) *usual {
	m := c.past.moments[k]
	if u := c.usual; u != nil && u.text == m.said.baseline {
		return u
	}
	u := &usual{text: m.said.baseline}
	var from, to string
	switch {
	case strings.HasPrefix(u.text, "the engine's life until "):
		u.life = true
		u.parts, u.count = lifeParts(c.past.first, strings.Contains(u.text, "without its queueing"))
		u.told = numberBefore(u.text, " requests")
	case strings.HasPrefix(u.text, "window "):
		u.window = true
		from, to, _ = strings.Cut(strings.TrimPrefix(u.text, "window "), "–")
		u.told = numberBefore(u.text, " requests")
		c.fill(u, clockBefore(from, m.At), clockBefore(to, m.At), k)
	}
	c.usual = u
	return u
}

func (c *Checker) fill(u *usual, from, to time.Time, k int) {
	moments := c.past.moments
	if from.IsZero() || to.IsZero() || !c.past.trimmed.IsZero() && from.Sub(c.past.trimmed) < lookSpan {
		u.unknown = true
		return
	}
	for i := range k + 1 {
		at := moments[i].At.Truncate(time.Second)
		if at.Before(from) || at.After(to) || c.ill(moments[i].At) {
			continue
		}
		v := view(moments[:i+1])
		fresh := v.freshParts()
		_, a := v.value("requests.rate")
		_, b := v.value("batch.running")
		if a || b || fresh.requests > 0 {
			u.ticks = append(u.ticks, i)
			u.parts = u.parts.plus(fresh.parts)
			u.count += fresh.requests
		}
	}
}

// ill reports a moment of an incident.
func (c *Checker) ill(at time.Time) bool {
	for _, s := range c.ills {
		if at.After(s.from) && !at.After(s.to) {
			return true
		}
	}
	return false
}

// value is the median of a signal over the healthy part; known is false where it cannot be
// worked out any more.
func (c *Checker) baseline(k int, signal string) (value float64, ok, known bool) {
	u := c.usualAt(k)
	switch {
	case u.unknown:
		return 0, false, false
	case u.life:
		value, ok = lifeValue(c.past.first, signal, u)
		return value, ok, true
	}
	var values []float64
	for _, i := range u.ticks {
		if x, told := view(c.past.moments[:i+1]).value(signal); told {
			values = append(values, x)
		}
	}
	if len(values) < fewTicks {
		return 0, false, true
	}
	value, ok = median(values)
	return value, ok, true
}

// clockBefore is the last moment at which a clock showed a time of day.
func clockBefore(text string, at time.Time) time.Time {
	text = strings.TrimSpace(text)
	if len(text) > 8 {
		text = text[:8]
	}
	clock, err := time.Parse("15:04:05", text)
	if err != nil {
		return time.Time{}
	}
	day := at.UTC().Truncate(24 * time.Hour)
	out := day.Add(time.Duration(clock.Hour())*time.Hour + time.Duration(clock.Minute())*time.Minute + time.Duration(clock.Second())*time.Second)
	if out.After(at) {
		out = out.Add(-24 * time.Hour)
	}
	return out
}

// numberBefore is the number that stands before a word, −1 without one.
func numberBefore(text, word string) float64 {
	head, _, found := strings.Cut(text, word)
	var x float64
	if i := strings.LastIndexAny(head, " ("); !found || i < 0 {
		return -1
	} else if _, err := fmt.Sscanf(head[i+1:], "%g", &x); err != nil {
		return -1
	}
	return x
}

// freshParts are the parts of the requests that ended since the sample before.
type freshParts struct {
	parts    split3
	requests float64
}

func (v view) freshParts() *freshParts {
	if f := v.now().fresh; f != nil {
		return f
	}
	f := &freshParts{}
	v.now().fresh = f
	m := v.measure()
	if m.whole || m.exact && len(v.now().engines) == 0 {
		since := math.Inf(1)
		if len(v) > 1 {
			since = v.now().At.Sub(v[len(v)-2].At).Seconds()
		}
		var done []observation
		for _, s := range m.ended {
			for _, r := range s.Finished {
				if o, ok := firstToken(r); ok && s.ago < since {
					done = append(done, o)
				}
			}
		}
		f.requests = float64(len(done))
		f.parts = split3{ttft: untilFirstToken(done), tpot: decoding(done), e2e: untilEnd(done)}
		return f
	}
	if len(v) < 2 {
		return f
	}
	newest := v[len(v)-2:]
	s := v.sumsOver(newest)
	f.parts = s.split(v.waitingSeconds(newest))
	f.parts.tpot = decodingCounts(v.gathered(newest, tpotTimes))
	if f.requests = s.ttft.count(); f.requests == 0 {
		f.requests = s.e2e.count()
	}
	return f
}

// lifeSums are the histograms of the first sample with an engine, from their beginnings on.
func lifeSums(first *moment, h histogram) (total *counts) {
	for _, e := range (view{first}).speakers(h.side, h.told) {
		total = together(total, asCounts(h.of(e)))
	}
	return total
}

func lifeParts(first *moment, unqueued bool) (split3, float64) {
	if first == nil {
		return split3{}, 0
	}
	s := sums{ttft: lifeSums(first, ttftTimes), frontend: lifeSums(first, frontendTimes), queue: lifeSums(first, queueTimes),
		prefill: lifeSums(first, prefillTimes), decode: lifeSums(first, decodeTimes), e2e: lifeSums(first, e2eTimes)}
	out := s.split(0)
	out.tpot = decodingCounts(lifeSums(first, tpotTimes))
	if unqueued {
		for _, p := range []*split{&out.ttft, &out.e2e} {
			p.total -= p.sum[probes.StageQueue]
			p.sum[probes.StageQueue] = 0
		}
	}
	if s.ttft == nil {
		return out, s.e2e.count()
	}
	return out, s.ttft.count()
}

// lifeValue is what a signal was over the engine's life. Where most of that was queueing,
// TTFT and E2E are their means without it.
func lifeValue(first *moment, signal string, u *usual) (float64, bool) {
	name, of, _ := strings.Cut(signal, ".")
	if first == nil {
		return 0, false
	}
	if p := map[string]split{"ttft": u.parts.ttft, "e2e": u.parts.e2e}[name]; strings.Contains(u.text, "without its queueing") && p.n > 0 {
		return p.total / p.n, true
	}
	if h, ok := map[string]histogram{"ttft": ttftTimes, "tpot": tpotTimes, "e2e": e2eTimes, "step": stepTimes, "prompt": promptLengths, "output": outputLengths}[name]; ok {
		if of == "mean" {
			return lifeSums(first, h).mean()
		}
		return lifeSums(first, h).quantile(map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99}[of])
	}
	switch signal {
	case "stage.queue.mean":
		return meanOf(u.parts.ttft, int(probes.StageQueue))
	case "stage.prefill.mean":
		return meanOf(u.parts.ttft, int(probes.StagePrefill))
	case "stage.frontend.mean":
		return meanOf(u.parts.ttft, frontend)
	case "stage.decode.mean":
		return meanOf(u.parts.e2e, int(probes.StageDecode))
	case "prefill.per_token":
		seconds, tokens := lifeSums(first, prefillTimes).total(), lifeSums(first, promptLengths).total()
		return seconds / math.Max(tokens, 1), seconds > 0 && tokens > 0
	}
	return 0, false
}

func meanOf(s split, part int) (float64, bool) { return s.sum[part] / math.Max(s.n, 1e-9), s.n > 0 }
