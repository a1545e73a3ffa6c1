package record

import (
	"fmt"
	"slices"
	"time"

	"llmtop/probes"
)

// What Verify lists of the events: kinds, and the first of each.
const (
	listedKinds = 32
	listedFirst = 3
)

// Happened are the events of one kind in a recording.
type Happened struct {
	Kind  string         `json:"kind"`
	Count int            `json:"count"`
	First []probes.Event `json:"first"` // at most three
}

// chronicle collects the events of the samples it is shown in order, and finds the
// ticks that came late where the writer did not say so.
type chronicle struct {
	happened []Happened
	last     *probes.Sample
}

func (c *chronicle) note(s *probes.Sample) {
	told := false
	for _, e := range s.Events {
		told = told || e.Kind == probes.EventLate
		c.happened = merge(c.happened, Happened{Kind: e.Kind, Count: 1, First: []probes.Event{e}})
	}
	if late := lateBy(c.last, s); late > 0 && !told {
		e := probes.Event{At: s.At, Kind: probes.EventLate, Text: fmt.Sprintf("%.1f s after the sample before", late.Seconds())}
		c.happened = merge(c.happened, Happened{Kind: e.Kind, Count: 1, First: []probes.Event{e}})
	}
	c.last = s
}

// lateBy is the time between two samples of one collection when that is too long, else 0.
func lateBy(before, now *probes.Sample) time.Duration {
	if before == nil || now.Seq != before.Seq+1 {
		return 0 // another collection, or samples are lost in between: a gap or damage says so
	}
	if d := now.Mono - before.Mono; probes.Late(d, now.Interval) {
		return d
	}
	return 0
}

// merge adds events to the list of their kind; kinds beyond the bound are not listed.
func merge(list []Happened, h Happened) []Happened {
	i := slices.IndexFunc(list, func(l Happened) bool { return l.Kind == h.Kind })
	if i < 0 {
		if len(list) < listedKinds {
			list = append(list, h)
		}
		return list
	}
	list[i].Count += h.Count
	list[i].First = append(list[i].First, h.First[:min(len(h.First), listedFirst-len(list[i].First))]...)
	return list
}
