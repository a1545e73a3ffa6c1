package rules

import (
	"time"

	"llmtop/probes"
)

// Options of a Diagnoser; the zero value is what llmtop uses.
type Options struct {
	Keep   time.Duration  // how long signals stay known, and how long a silence may last; 10 min when 0
	Decode probes.Decoder // gives samples their meaning; NewDecoder() when nil
}

// Diagnoser folds samples into ticks. It is a pure fold: the same samples in the
// same order give the same ticks, live or replayed. Not safe for concurrent use;
// the ticks it hands out are.
type Diagnoser struct {
	book    *Book
	keep    time.Duration
	window  *probes.Window
	ledger  *ledger
	past    *history
	base    *baseline
	watched []watched
	onset   []time.Time
	away    []time.Time // since when a signal with an onset is back in its baseline
	held    map[*node]time.Time
	cases   []ruleCase
	episode episode
	sawIt   bool // an engine answered at least once
	traffic time.Time
}

// NewDiagnoser returns a Diagnoser that has seen nothing.
func NewDiagnoser(book *Book, o Options) *Diagnoser {
	if o.Keep <= 0 {
		o.Keep = baseKeep
	}
	if o.Decode == nil {
		o.Decode = NewDecoder()
	}
	d := &Diagnoser{book: book, keep: o.Keep, window: probes.NewWindow(min(o.Keep, lookSpan), o.Decode), ledger: newLedger(), cases: make([]ruleCase, len(book.Rules))}
	d.reset()
	return d
}

// reset forgets everything but the window.
func (d *Diagnoser) reset() {
	d.base, d.watched = newBaseline(), newWatched()
	d.onset, d.away = make([]time.Time, len(table)), make([]time.Time, len(table))
	d.held = map[*node]time.Time{}
	d.past = &history{keep: d.keep}
	clear(d.cases)
	d.episode = episode{}
}

// restart begins anew after the wall clock jumped or nothing was seen for longer
// than is kept. What was healthy before stays known where the monotonic clock
// tells how far the other one moved.
func (d *Diagnoser) restart(older, newer *probes.Sample) {
	base, mono := d.base, newer.Mono-older.Mono
	d.reset()
	if mono <= 0 {
		return
	}
	moved := newer.At.Sub(older.At) - mono
	d.base = base
	base.shift(moved)
	if !d.traffic.IsZero() {
		d.traffic = d.traffic.Add(moved)
	}
}

// Observe takes the next sample in and says what is known now.
func (d *Diagnoser) Observe(s *probes.Sample) *Tick {
	previous := d.window.Last()
	p := d.window.Push(s)
	if previous != nil && (d.window.Jumped() || s.At.Sub(previous.At) >= d.keep) {
		d.restart(previous.Sample, s)
		previous = nil
	}
	if !d.base.life.tried && len(p.Engines) > 0 {
		d.base.life = lifetimeOf(p)
	}
	n := d.ledger.look(d.window, p)
	signals := compute(n)
	d.past.push(n.at, signals)
	for i := range d.watched {
		d.watched[i].observe(n, signals, d.base)
	}
	began := incident(d.watched)
	fresh, requests := freshStages(n, previous)
	r := tickRecord{at: n.at, signals: signals, fresh: fresh, requests: requests}
	for i, q := range n.newest() {
		r.newest[i] = q.median
	}
	d.base.observe(r, anyOver(d.watched) || n.mostlyWaiting(signals), began)
	base := d.baselines()
	d.noteOnsets(n.at, signals, base)
	if len(p.Engines) > 0 || n.exact {
		d.sawIt = true
	}
	if requests > 0 || signals.Get("ttft.p50").Seen() || signals.Get("batch.running").Or(0) > 0 {
		d.traffic = n.at
	}
	return &Tick{Point: p, Signals: signals, Buckets: n.buckets, Instances: n.told, Baseline: base, Diagnosis: d.diagnose(n, signals, base)}
}

// baselines is what each signal is held against now.
func (d *Diagnoser) baselines() Signals {
	out := make(Signals, len(table))
	for i := range table {
		out[i] = d.base.value(i)
	}
	return out
}

// noteOnsets keeps when each signal left its baseline. It has come back when it
// stayed there for calmHold.
func (d *Diagnoser) noteOnsets(at time.Time, signals, base Signals) {
	for i := range table {
		v, ok := signals[i].Get()
		b, ok2 := base[i].Get()
		off := ok && ok2 && (isUp(v, b, table[i].Step, upFactor) || isUp(b, v, table[i].Step, upFactor))
		switch {
		case off:
			d.away[i] = time.Time{}
			if d.onset[i].IsZero() {
				d.onset[i] = at
			}
		case d.onset[i].IsZero():
		case d.away[i].IsZero():
			d.away[i] = at
		case at.Sub(d.away[i]) >= calmHold:
			d.onset[i], d.away[i] = time.Time{}, time.Time{}
		}
	}
}
