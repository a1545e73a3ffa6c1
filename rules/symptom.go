package rules

import (
	"fmt"
	"math"
	"time"
)

// How a symptom is raised and ended. A queue that only passes (a burst of
// arrivals, one giant prompt) leaves the 10 s statistics high for 10 s; so a
// symptom needs either proof from the newest requests (fast), or more than one
// such span (slow). Proof gathers with every second in which their median is over
// its threshold, by how many times it is, and fades in seconds in which it is not:
// two bursts soon after each other prove more than one, two far apart do not.
const (
	enoughProof = 10 // seconds × times over the threshold [proposal]: 4 s at farOver
	farOver     = 3  // more counts as this
	fade        = 1.5
	fastEval    = 4 // evaluations over it, whatever the interval
	slowHold    = 2 // spans of the statistic
	calmHold    = 5 * time.Second
	coolHold    = 8 * time.Second

	noiseMargin = 1.25 // over the highest healthy reading [proposal]
	noiseCap    = 4    // noise never raises a threshold beyond this many baselines
	unsureMore  = 4. / 3
	calmShare   = 0.7 // a symptom ends below this part of the way from baseline to threshold
)

// Floors users need (METHOD §2: TTFT ≤ 2 s, TPOT ≤ 100 ms for chat).
const (
	sloTTFT = 2.0
	sloTPOT = 0.1
)

// sloRefused is the share of requests turned away from which on users feel it: ten
// times what an SLO of 99.9 % leaves (METHOD §10) [proposal]. It is never usual.
const (
	sloRefused    = 0.01
	refusedHold   = 4 * time.Second
	refusedFamily = "refused"
)

// watch is one signal that users feel, and how far it must rise to be a symptom.
type watch struct {
	signal string
	family string // what rules say they explain: ttft, tpot, e2e, step
	factor float64
	least  float64 // absolute rise, seconds [proposal]: 150/300 ms is 7/15 % of the TTFT floor, 10/20 ms 10/20 % of the TPOT floor
	slo    float64 // held against it while nothing else is known; 0: no floor
	always bool    // slo holds whatever is usual
	quick  int     // the family of its newest requests
	set    func(*now) latency
	median string // the signal whose threshold the newest requests must pass
	bare   bool   // counts only where an engine tells means and no quantiles
}

func watches() []watch {
	ttft := func(n *now) latency { return n.ttft }
	tpot := func(n *now) latency { return n.tpot }
	e2e := func(n *now) latency { return n.e2e }
	step := func(n *now) latency { return latency{hist: n.step} }
	return []watch{
		{"ttft.p50", "ttft", 1.5, 0.150, 0, false, quickTTFT, ttft, "ttft.p50", false},
		{"ttft.p95", "ttft", 1.5, 0.300, sloTTFT, false, quickTTFT, ttft, "ttft.p50", false},
		{"tpot.p50", "tpot", 1.5, 0.010, sloTPOT, false, quickTPOT, tpot, "tpot.p50", false},
		{"tpot.p95", "tpot", 1.5, 0.020, 0, false, quickTPOT, tpot, "tpot.p50", false},
		{"e2e.p50", "e2e", 1.5, 0.500, 0, false, quickE2E, e2e, "e2e.p50", false},
		{"e2e.p95", "e2e", 1.5, 1.000, 0, false, quickE2E, e2e, "e2e.p50", false},
		{"step.p99", "step", 3, 0.100, 0, false, noQuick, step, "step.p50", false},
		{"refused.share", refusedFamily, 0, 0, sloRefused, true, noQuick, nil, "refused.share", false},
		{"ttft.mean", "ttft", 1.5, 0.300, sloTTFT, false, noQuick, ttft, "ttft.mean", true},
		{"tpot.mean", "tpot", 1.5, 0.010, sloTPOT, false, noQuick, tpot, "tpot.mean", true},
		{"e2e.mean", "e2e", 1.5, 0.500, 0, false, noQuick, e2e, "e2e.mean", true},
	}
}

// watched is a watch and what the fold knows of it.
type watched struct {
	watch
	sig, median int
	over        time.Time // since when above the threshold
	proof       float64   // of the newest requests being slow
	evals       int       // evaluations behind it
	last        time.Time // of the newest evaluation
	calm        time.Time // since when below, while raised
	raised      bool
	quickly     bool      // raised because the newest requests were slow
	cool        time.Time // since when the newest requests are slow no more, when raised quickly
	onset       time.Time
	from        float64
}

func newWatched() []watched {
	var out []watched
	for _, w := range watches() {
		out = append(out, watched{watch: w, sig: tableIndex[w.signal], median: tableIndex[w.median]})
	}
	return out
}

// threshold is where a signal becomes a symptom, and the baseline it is held against.
func (w *watched) threshold(b *baseline, sig int) (limit, from float64, ok bool) {
	if w.always {
		return w.slo, 0, true
	}
	least := w.least
	if sig != w.sig {
		least = w.least / 2
	}
	base, ok := b.value(sig).Get()
	if !ok {
		if w.slo == 0 || b.source() != fromSLO {
			return 0, 0, false
		}
		return w.slo, w.slo, true
	}
	more := unsureMore
	if b.sure() {
		more = 1
	}
	limit = math.Max(base*w.factor*more, base+least*more)
	if b.source() == fromLifetime {
		if high, ok := b.life.high[sig]; ok && !math.IsInf(high, 0) {
			limit = math.Max(limit, high*noiseMargin)
		}
	}
	if top, ok := b.noise(sig).Get(); ok {
		limit = math.Max(limit, math.Min(top*noiseMargin, noiseCap*base+2*least))
	}
	return limit, base, true
}

// observe folds one tick in.
func (w *watched) observe(n *now, s Signals, b *baseline) {
	limit, from, ok := w.threshold(b, w.sig)
	v, seen := s[w.sig].Get()
	if w.family == "e2e" && longerAnswers(s, b) {
		seen = false // longer answers take longer: no symptom of the engine
	}
	if w.bare && !w.set(n).bare() {
		seen = false // its quantiles speak
	}
	if w.raised {
		w.noteCool(n, b)
		cool := !w.cool.IsZero() && n.at.Sub(w.cool) >= coolHold
		w.mayEnd(n.at, seen && ok && v > w.from+(limit-w.from)*calmShare, cool)
		return
	}
	w.prove(n, b)
	if !ok || !seen || v < limit || !w.countable(n) {
		w.over = time.Time{}
		return
	}
	if w.over.IsZero() {
		w.over = n.at
	}
	quickly := w.evals >= fastEval && w.proof >= enoughProof
	if quickly || n.at.Sub(w.over) >= w.hold(n) {
		w.raised, w.quickly, w.cool = true, quickly, time.Time{}
		w.onset, w.from, w.calm = w.over, from, time.Time{}
	}
}

// prove gathers proof from the newest requests.
func (w *watched) prove(n *now, b *baseline) {
	times := w.newestOver(n, b)
	seconds := math.Min(n.at.Sub(w.last).Seconds(), recentSpan.Seconds())
	if w.last.IsZero() {
		seconds = n.point.Interval.Seconds()
	}
	w.last = n.at
	if times >= 1 {
		w.proof, w.evals = w.proof+seconds*math.Min(times, farOver), w.evals+1
		return
	}
	if w.proof -= seconds * fade; w.proof <= 0 {
		w.proof, w.evals = 0, 0
	}
}

// countable reports observations enough behind the statistic; a share that is
// always judged is missing without them.
func (w *watched) countable(n *now) bool { return w.always || w.set(n).count() >= enough }

// hold is how long the statistic must be over its threshold: longer than one cluster
// of slow requests can keep it there.
func (w *watched) hold(n *now) time.Duration {
	switch {
	case w.always:
		return refusedHold
	case w.set(n).wide:
		return slowHold * wideSpan
	}
	return slowHold * nowSpan
}

// newestOver is the median of the newest requests over its threshold; 0 when it is not known.
func (w *watched) newestOver(n *now, b *baseline) float64 {
	if w.quick == noQuick {
		return 0
	}
	q := n.newest()[w.quick]
	v, ok := q.median.Get()
	limit, base, known := w.threshold(b, w.median)
	if !ok || !known || q.n < 3 || limit <= 0 {
		return 0
	}
	if top, ok := b.newestNoise(w.quick).Get(); ok {
		limit = math.Max(limit, math.Min(top*noiseMargin, noiseCap*base+2*w.least))
	}
	return v / limit
}

// noteCool keeps since when the newest requests are fast again.
func (w *watched) noteCool(n *now, b *baseline) {
	switch {
	case !w.quickly || w.newestOver(n, b) >= 1:
		w.cool = time.Time{}
	case w.cool.IsZero():
		w.cool = n.at
	}
}

// mayEnd ends a raised symptom that stayed low for calmHold, or whose newest
// requests have been fast for coolHold.
func (w *watched) mayEnd(at time.Time, high, cool bool) {
	switch {
	case high && !cool:
		w.calm = time.Time{}
	case w.calm.IsZero() && !cool:
		w.calm = at
	case cool || at.Sub(w.calm) >= calmHold:
		w.raised, w.over, w.proof, w.evals, w.calm, w.cool = false, time.Time{}, 0, 0, time.Time{}, time.Time{}
	}
}

func longerAnswers(s Signals, b *baseline) bool {
	v, ok := s.Get("output.p50").Get()
	base, ok2 := b.value(tableIndex["output.p50"]).Get()
	return ok && ok2 && isUp(v, base, 8, 1.3)
}

// symptoms lists the raised watches.
func symptoms(ws []watched, s Signals) []Symptom {
	out := []Symptom{}
	for _, w := range ws {
		if w.raised {
			out = append(out, Symptom{Signal: w.signal, From: w.from, To: s[w.sig].Or(w.from), Unit: table[w.sig].Unit, Since: w.onset})
		}
	}
	return out
}

func anyOver(ws []watched) bool {
	for _, w := range ws {
		if !w.over.IsZero() {
			return true
		}
	}
	return false
}

// brewing says of the signal that is furthest over what is usual that it is so, and not
// for long enough to be a symptom; empty when there is none.
func brewing(ws []watched, at time.Time, s Signals, b *baseline) string {
	text, most := "", 0.0
	for i := range ws {
		w := &ws[i]
		v, seen := s[w.sig].Get()
		limit, from, ok := w.threshold(b, w.sig)
		if w.over.IsZero() || w.raised || !seen || !ok || v/limit <= most {
			continue
		}
		most = v / limit
		text = fmt.Sprintf("%s %s for %.0f s: too short to tell a burst from trouble", table[w.sig].Title, change(from, v, table[w.sig].Unit), at.Sub(w.over).Seconds())
	}
	return text
}

// incident is the onset of the earliest symptom that stands, zero without one.
func incident(ws []watched) time.Time {
	var first time.Time
	for _, w := range ws {
		if w.raised && (first.IsZero() || w.onset.Before(first)) {
			first = w.onset
		}
	}
	return first
}
