package panes

import (
	"math"
	"slices"
	"strings"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// view is a frame as the panes read it: the tick shown, its time, and lookups
// that know about missing and stale readings.
type view struct {
	Frame
	tick   *rules.Tick // the last of Ticks; nil before the first
	at     time.Time   // the sample's time; panes know no other
	scroll int         // lines the diagnosis is scrolled down
	help   bool        // the help lies over the panes
	sheet  sheet       // does, noSheet: none
	prompt *prompt     // lies over the last two lines
	list   *list       // the marks lie over the panes
}

func newView(f Frame, scroll int, help bool) *view {
	v := &view{Frame: f, scroll: scroll, help: help}
	if n := len(f.Ticks); n > 0 {
		v.tick = f.Ticks[n-1]
		v.at = v.tick.Point.At
	}
	return v
}

// sig is a signal of the tick shown. Where its source has fallen silent it is the
// last value known; the panes dim it and tell its age.
func (v *view) sig(name string) probes.Opt[float64] {
	value := v.tick.Signals.Get(name)
	if value.Seen() {
		return value
	}
	if _, isOld := v.age(v.sourceAt(name)); !isOld {
		return value
	}
	for i := len(v.Ticks) - 2; i >= 0; i-- {
		if earlier := v.Ticks[i].Signals.Get(name); earlier.Seen() {
			return earlier
		}
	}
	return value
}

// sourceAt is when the section a signal comes from was last read.
func (v *view) sourceAt(name string) time.Time {
	family, _, _ := strings.Cut(name, ".")
	switch family {
	case "host":
		return hostAt(v)
	case "process":
		return processAt(v)
	case "gpu":
		return gpuAt(v)
	case "profile", "self", "canary", "config":
		return time.Time{} // a profile and a canary say themselves how old they are
	}
	return v.engineAt()
}

// baseline is what a signal is held against: what a symptom says, which froze it
// at the onset, else the tick's own. Missing when there is none.
func (v *view) baseline(name string) probes.Opt[float64] {
	for _, s := range v.tick.Diagnosis.Symptoms {
		if s.Signal == name {
			return probes.Some(s.From)
		}
	}
	return v.tick.Baseline.Get(name)
}

// symptomatic reports whether the diagnosis names the signal a symptom.
func (v *view) symptomatic(name string) bool {
	for _, s := range v.tick.Diagnosis.Symptoms {
		if s.Signal == name {
			return true
		}
	}
	return false
}

// staleAfter is how old a section may be: three of its probe's intervals, and
// never less than three ticks, so that one late read is not called stale.
func (v *view) staleAfter(every float64) time.Duration {
	return max(3*v.tick.Point.Interval, time.Duration(3*every*float64(time.Second)), 3*time.Second)
}

// age is how old a reading made at t is, and whether that is too old to stand
// for now. A reading without a time is not judged.
func (v *view) age(t time.Time) (age time.Duration, isOld bool) {
	if t.IsZero() {
		return 0, false
	}
	age = v.at.Sub(t)
	return age, age > v.staleAfter(v.everyOf(t))
}

// everyOf is the interval of the probe that read a section at t, 0 when no probe says
// so: of those whose last read had t in it, the one that ended first after it.
func (v *view) everyOf(t time.Time) float64 {
	every, nearest := 0.0, time.Duration(math.MaxInt64)
	for _, p := range v.tick.Point.Probes {
		took := time.Duration(p.LatencySeconds.Or(0) * float64(time.Second))
		if after := p.At.Sub(t); after >= 0 && after <= took+time.Millisecond && after < nearest {
			every, nearest = p.EverySeconds, after
		}
	}
	return every
}

// lately looks at the last 10 s, for rates that are no signals.
func (v *view) lately() probes.View {
	var points []*probes.Point
	for i := len(v.Ticks) - 1; i >= 0 && v.at.Sub(v.Ticks[i].Point.At) <= 10*time.Second; i-- {
		points = append(points, v.Ticks[i].Point)
	}
	slices.Reverse(points)
	return probes.ViewOf(points)
}

// engineAt is when the engine was last read: the newest of its sections.
func (v *view) engineAt() time.Time {
	var at time.Time
	for _, s := range v.tick.Point.Scrapes {
		if s.At.After(at) {
			at = s.At
		}
	}
	for _, r := range v.tick.Point.Requests {
		if r.At.After(at) {
			at = r.At
		}
	}
	return at
}

// fresh is the tone of a reading made at t: t itself while it stands for now,
// old otherwise.
func (v *view) fresh(at time.Time, t tone) tone {
	if _, isOld := v.age(at); isOld {
		return old
	}
	return t
}

// gap is the hole in time before the tick at i: the time missing beyond the
// planned interval, 0 when there is none.
func (v *view) gap(i int) time.Duration {
	if i <= 0 {
		return 0
	}
	interval := v.Ticks[i].Point.Interval
	if d := v.Ticks[i].Point.At.Sub(v.Ticks[i-1].Point.At); interval > 0 && d > interval*5/2 {
		return d - interval
	}
	return 0
}
