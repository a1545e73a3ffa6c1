package rules

import (
	"fmt"
	"time"

	"llmtop/probes"
)

// What a window needs before it can stand as its own baseline [proposal].
const (
	baseSpan     = 20 * time.Second
	haltSpan     = 8 * time.Second // is enough once an incident has begun: more will not come
	baseRequests = 10
	baseTicks    = 5                // readings of a signal
	sureSpan     = 60 * time.Second // from here on it is called sure
	baseLag      = 5 * time.Second  // newest ticks wait this long: an incident may be starting in them
	baseKeep     = 10 * time.Minute
)

// Source is where a baseline comes from.
type source uint8

const (
	fromNothing source = iota
	fromSLO
	fromLifetime
	fromWindow
)

// tickRecord is what one tick adds to a baseline.
type tickRecord struct {
	at       time.Time
	signals  Signals
	fresh    stageMeans // of the requests that finished in this tick
	requests float64
	newest   [numQuick]probes.Opt[float64] // medians of the newest requests
}

// baseline is a fold over ticks: what signals were while nothing was wrong.
// Ticks wait in pending until it is clear that they are not the beginning of an
// incident; ticks of an incident are dropped.
type baseline struct {
	life     lifetime
	pending  []tickRecord
	admitted []tickRecord
	spread   []sorted
	newest   [numQuick]sorted
	sum      stageMeans
	requests float64
	began    time.Time // first tick with traffic
	halted   bool      // an incident stands
}

func newBaseline() *baseline { return &baseline{spread: make([]sorted, len(table))} }

// observe takes a tick in. suspect says a symptom may be starting: nothing is
// admitted then. incident is the onset of a standing symptom, zero without one.
func (b *baseline) observe(r tickRecord, suspect bool, incident time.Time) {
	if r.requests > 0 && b.began.IsZero() {
		b.began = r.at
	}
	b.pending = append(b.pending, r)
	b.halted = !incident.IsZero()
	had := len(b.admitted)
	switch {
	case !incident.IsZero():
		b.admitUntil(incident.Add(-baseLag))
		b.pending = nil
	case !suspect:
		b.admitUntil(r.at.Add(-baseLag))
	case len(b.pending) > 4*int(baseLag/time.Second)+60:
		b.pending = b.pending[1:] // never unbounded
	}
	came := b.admitted[had:]
	gone := b.forget(r.at.Add(-baseKeep))
	b.spreadOut(came, gone)
	clear(gone)
}

func (b *baseline) admitUntil(t time.Time) {
	for len(b.pending) > 0 && !b.pending[0].at.After(t) {
		b.admit(b.pending[0])
		b.pending = b.pending[1:]
	}
}

func (b *baseline) admit(r tickRecord) {
	if !r.signals.Get("requests.rate").Seen() && !r.signals.Get("batch.running").Seen() && r.requests == 0 {
		return // nothing of an engine in it
	}
	b.admitted = append(b.admitted, r)
	b.requests += r.requests
	b.sum.plus(r.fresh, 1)
}

// forget drops ticks older than t, but never below what a baseline needs: a long
// incident must not erase the memory of health. It returns what it dropped.
func (b *baseline) forget(t time.Time) (gone []tickRecord) {
	n := 0
	for len(b.admitted)-n > 2*int(sureSpan/time.Second) && b.admitted[n].at.Before(t) {
		b.requests -= b.admitted[n].requests
		b.sum.plus(b.admitted[n].fresh, -1)
		n++
	}
	gone, b.admitted = b.admitted[:n], b.admitted[n:]
	return gone
}

// spreadOut puts the readings of the ticks that came in order and takes out those of
// the ticks that are gone. Mostly one comes and one goes.
func (b *baseline) spreadOut(came, gone []tickRecord) {
	if len(came) == 1 && len(gone) == 1 {
		came[0].replace(&gone[0], b)
		return
	}
	for i := range came {
		came[i].replace(&tickRecord{signals: make(Signals, len(table))}, b)
	}
	for i := range gone {
		(&tickRecord{signals: make(Signals, len(table))}).replace(&gone[i], b)
	}
}

// replace puts a tick's readings where those of another were.
func (r *tickRecord) replace(old *tickRecord, b *baseline) {
	for i := range b.spread {
		b.spread[i].exchange(old.signals[i], r.signals[i])
	}
	for i := range b.newest {
		b.newest[i].exchange(old.newest[i], r.newest[i])
	}
}

// shift moves what is known to a clock that was set by d.
func (b *baseline) shift(d time.Duration) {
	for _, list := range [][]tickRecord{b.pending, b.admitted} {
		for i := range list {
			list[i].at = list[i].at.Add(d)
		}
	}
	if !b.began.IsZero() {
		b.began = b.began.Add(d)
	}
}

// plus adds (or, with sign −1, takes away) the sums of other.
func (s *stageMeans) plus(other stageMeans, sign float64) {
	s.ttft = s.ttft.plus(other.ttft.times(sign))
	s.tpot = s.tpot.plus(other.tpot.times(sign))
	s.e2e = s.e2e.plus(other.e2e.times(sign))
}

// without is the sums with one stage taken out.
func (p parts) without(s probes.Stage) parts {
	p.total -= p.sum[s]
	p.sum[s] = 0
	return p
}

func (p parts) times(k float64) parts {
	p.n, p.total = p.n*k, p.total*k
	for i := range p.sum {
		p.sum[i] *= k
	}
	return p
}

func (b *baseline) span() time.Duration {
	if len(b.admitted) == 0 {
		return 0
	}
	return b.admitted[len(b.admitted)-1].at.Sub(b.admitted[0].at)
}

// ready reports whether the healthy part of the window is enough to judge by.
func (b *baseline) ready() bool {
	need := baseSpan
	if b.halted {
		need = haltSpan
	}
	return b.span() >= need && b.requests >= baseRequests
}

// sure reports a baseline long enough to have seen the usual noise.
func (b *baseline) sure() bool { return b.ready() && b.span() >= sureSpan }

// source is the best baseline at hand.
func (b *baseline) source() source {
	switch {
	case b.ready():
		return fromWindow
	case b.life.ok:
		return fromLifetime
	}
	return fromSLO
}

// value is what a signal usually is: the median of its healthy readings, or its
// value over the engine's life at attach. Missing when neither is known.
func (b *baseline) value(sig int) probes.Opt[float64] {
	if b.ready() {
		if len(b.spread[sig]) < baseTicks {
			return missing()
		}
		return b.spread[sig].quantile(0.5)
	}
	if b.life.ok {
		return b.life.signals[sig]
	}
	return missing()
}

// noise is the upper end of a signal's healthy readings, missing without a window.
func (b *baseline) noise(sig int) probes.Opt[float64] {
	if !b.ready() || len(b.spread[sig]) < baseTicks {
		return missing()
	}
	return b.spread[sig].quantile(0.99)
}

// newestNoise is the upper end of the healthy medians of the newest requests: they
// swing more than those over the whole now span.
func (b *baseline) newestNoise(i int) probes.Opt[float64] {
	if !b.ready() || len(b.newest[i]) < baseTicks {
		return missing()
	}
	return b.newest[i].quantile(0.99)
}

// stages are the parts a healthy request has.
func (b *baseline) stages() stageMeans {
	if b.ready() {
		return b.sum
	}
	return b.life.stages
}

func (b *baseline) String() string {
	const clock = "15:04:05"
	switch b.source() {
	case fromWindow:
		sure := "sure"
		if !b.sure() {
			sure = "short"
		}
		from, to := b.admitted[0].at, b.admitted[len(b.admitted)-1].at
		return fmt.Sprintf("window %s–%s (healthy part, %.0f requests, %s)", from.UTC().Format(clock), to.UTC().Format(clock), b.requests, sure)
	case fromLifetime:
		if b.life.waited {
			return fmt.Sprintf("the engine's life until %s without its queueing (%.0f requests, most of their TTFT was queue: less sure)", b.life.at.UTC().Format(clock), b.life.requests)
		}
		return fmt.Sprintf("the engine's life until %s (%.0f requests, mixed load: less sure)", b.life.at.UTC().Format(clock), b.life.requests)
	}
	return "SLO floor (TTFT p95 ≤ 2 s, TPOT ≤ 100 ms)"
}

// text is the baseline in words, and what it still waits for.
func (b *baseline) text(at time.Time) string {
	missing := b.gathering(at)
	switch {
	case b.source() != fromSLO:
		return b.String()
	case missing == "":
		return b.String() + ": no history yet"
	}
	return b.String() + "; " + missing
}

// seenEnough reports requests enough to hold the latencies against the SLO floor.
func (b *baseline) seenEnough() bool { return b.requests+b.waitingRequests() >= baseRequests }

// gathering says how far the window is from being a baseline; empty when it is one.
func (b *baseline) gathering(at time.Time) string {
	if b.ready() || b.began.IsZero() {
		return ""
	}
	have := min(at.Sub(b.began), baseSpan)
	if !b.seenEnough() {
		return fmt.Sprintf("learning what is usual: %.0f requests of %d", b.requests+b.waitingRequests(), baseRequests)
	}
	return fmt.Sprintf("learning what is usual: %.0f s of %.0f s", have.Seconds(), baseSpan.Seconds())
}

func (b *baseline) waitingRequests() float64 {
	n := 0.0
	for _, r := range b.pending {
		n += r.requests
	}
	return n
}
