package probes

import (
	"sort"
	"time"
)

// Point is a sample and its meaning: the canonical engines of its scrapes and
// the facts of its profile.
type Point struct {
	*Sample
	Engines []*Engine
	Facts   *ProfileFacts
}

// Decoder gives a sample its meaning. It is pure: the same sample, the same point.
type Decoder func(*Sample) *Point

// Window keeps the points of the last keep time, oldest first, by the samples' own clock.
type Window struct {
	keep   time.Duration
	decode Decoder
	points []*Point
	floor  time.Time // readings made before it are of another clock
	jumped bool      // the newest point is the first of another clock
}

// NewWindow returns an empty window over the last keep.
func NewWindow(keep time.Duration, decode Decoder) *Window {
	return &Window{keep: keep, decode: decode}
}

// ViewOf looks at points that are at hand, oldest first.
func ViewOf(points []*Point) View { return View{points: points} }

// Push adds a sample and drops what is older than keep. When the wall clock
// jumped since the newest one, in either direction, times before and after do
// not compare: the window starts afresh.
func (w *Window) Push(s *Sample) *Point {
	p := w.decode(s)
	w.jumped = false
	if last := w.Last(); last != nil {
		if at, jumped := jump(last.Sample, s); jumped {
			w.points, w.floor, w.jumped = nil, at, true
		}
	}
	w.points = append(w.points, p)
	first := s.At.Add(-w.keep)
	drop := sort.Search(len(w.points), func(i int) bool { return w.points[i].At.After(first) })
	if drop > 64 && drop > len(w.points)/4 {
		w.points = append(make([]*Point, 0, len(w.points)), w.points[drop:]...)
	} else {
		clear(w.points[:drop])
		w.points = w.points[drop:]
	}
	return p
}

// jump reports whether the wall clock moved between two samples in another way
// than time did, and then the moment of the older one on the newer one's clock:
// what was read before it carries a time that means nothing any more. Without
// monotonic times (another collection) only a step back can be told.
func jump(older, newer *Sample) (at time.Time, jumped bool) {
	wall, mono := newer.At.Sub(older.At), newer.Mono-older.Mono
	switch {
	case mono > 0 && (wall-mono > jumpLimit || mono-wall > jumpLimit):
		return newer.At.Add(-mono), true
	case wall <= 0:
		return time.Time{}, true
	}
	return time.Time{}, false
}

// Jumped reports that the wall clock jumped just before the newest point, with
// which the window began afresh.
func (w *Window) Jumped() bool { return w.jumped }

// All is the whole window.
func (w *Window) All() View { return View{w.points, w.floor} }

// Last returns the newest point, nil when empty.
func (w *Window) Last() *Point {
	if len(w.points) == 0 {
		return nil
	}
	return w.points[len(w.points)-1]
}

// Between is the part with from ≤ At ≤ to.
func (w *Window) Between(from, to time.Time) View { return w.All().Between(from, to) }

// Since is the part of the newest d.
func (w *Window) Since(d time.Duration) View {
	last := w.Last()
	if last == nil {
		return View{}
	}
	return w.Between(last.At.Add(-d), last.At)
}

// View is a contiguous part of a window, oldest first.
type View struct {
	points []*Point
	floor  time.Time // readings made before it do not count
}

// Points returns the points; the caller does not change them.
func (v View) Points() []*Point { return v.points }

// Len is the number of points.
func (v View) Len() int { return len(v.points) }

// Between is the part of the view with from ≤ At ≤ to.
func (v View) Between(from, to time.Time) View {
	i := sort.Search(len(v.points), func(i int) bool { return !v.points[i].At.Before(from) })
	j := sort.Search(len(v.points), func(i int) bool { return v.points[i].At.After(to) })
	if i >= j {
		return View{}
	}
	return View{v.points[i:j], v.floor}
}
