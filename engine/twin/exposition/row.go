package exposition

import (
	"slices"
	"strings"
	"time"

	"llmtop/probes"
)

// moment is when a series moves.
type moment uint8

const (
	atStart moment = iota // of the process
	atArrived
	atQueued
	atAdmitted
	atFirst
	atStalled
	atFinished
	atStep
	atInterval // some engines count over several steps
	atRefresh  // the engine writes its gauges; each has a time of its own for that
	atScrape
	numMoments
)

// event is what a moment is about: of request, step and state those that it has.
type event struct {
	at      time.Time
	request *Request
	step    *Step
	state   *State
	gap     float64
}

// feed is what a series gets at a moment. A counter gains amount, a gauge becomes it, a
// histogram and a summary observe it n times. Nothing happens when n is 0.
type feed func(p *page, e *event) (amount float64, n int)

// row is one line of an engine's table: a series and what moves it. Rows of one name make
// up a family and stand together; rows of one series each add a moment to it.
type row struct {
	name   string
	kind   probes.MetricType
	labels []probes.Label
	bounds []float64
	late   bool // not on the page before it has moved once
	on     moment
	feed   feed
}

func counter(name string, labels []probes.Label, on moment, f feed) row {
	return row{name: name, kind: probes.Counter, labels: labels, on: on, feed: f}
}

func gauge(name string, labels []probes.Label, on moment, f feed) row {
	return row{name: name, kind: probes.Gauge, labels: labels, on: on, feed: f}
}

func histogram(name string, labels []probes.Label, bounds []float64, on moment, f feed) row {
	return row{name: name, kind: probes.HistogramType, labels: labels, bounds: bounds, on: on, feed: f}
}

func summary(name string, labels []probes.Label, on moment, f feed) row {
	return row{name: name, kind: probes.Summary, labels: labels, on: on, feed: f}
}

// info is a gauge that is always 1 and whose labels tell something.
func info(name string, labels []probes.Label) row { return gauge(name, labels, atStart, constant(1)) }

// with adds a label.
func (r row) with(name, value string) row {
	r.labels = labelled(slices.Concat(r.labels, []probes.Label{{Name: name, Value: value}}))
	return r
}

// once makes a row late.
func (r row) once() row {
	r.late = true
	return r
}

// labels are pairs of names and values, as a page can carry them.
func labels(pairs ...string) []probes.Label {
	var out []probes.Label
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, probes.Label{Name: pairs[i], Value: probes.Printable(strings.ToValidUTF8(pairs[i+1], "\ufffd"), maxLabel)})
	}
	return labelled(out)
}

// maxLabel is how long a label's value may be for those who read pages.
const maxLabel = 1024

func labelled(l []probes.Label) []probes.Label {
	slices.SortFunc(l, func(a, b probes.Label) int { return strings.Compare(a.Name, b.Name) })
	return l
}
