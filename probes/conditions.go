package probes

import (
	"fmt"
	"time"
)

// EventProbeError is a probe that began to fail, or reads again.
const EventProbeError = "probe-error"

const (
	endsAfter  = 10 * time.Second // how long something must be away before that is an event: what flickers, as a power cap does under load, is one thing and not many
	lastsAfter = 10 * time.Second // how long something that passes by itself must last before that is an event
	quietFor   = time.Minute      // how long more of what was counted is held back

	maxConditions = 4096 // things watched; they are as many as there are probes, devices, file systems and interfaces
)

// condition is something that holds for a while.
type condition struct {
	since, seen time.Duration // when it began and was last seen, since the collection began
	told        bool
}

// count is a counter of what is rare and bad.
type count struct {
	last   float64
	untold float64       // how much it grew since it was last told; below 0: so much more is no news
	told   time.Duration // when it was last told
	any    bool          // it was
}

// conditions turns what is so in each sample into events when it begins and ends, and what
// is counted into events when it grows.
type conditions struct {
	on     map[string]condition
	counts map[string]count
	xids   map[string]uint64  // critical errors a device had, by identity
	linked map[string]float64 // NVLinks that were active at most, by device
	up     map[string]bool    // interfaces that were up
}

func (c *conditions) events(s *Sample) []Event {
	if c.on == nil {
		c.on, c.counts, c.xids, c.linked, c.up = map[string]condition{}, map[string]count{}, map[string]uint64{}, map[string]float64{}, map[string]bool{}
	}
	n := notes{conditions: c, at: s.At, mono: s.Mono}
	for i := range s.Probes {
		p := &s.Probes[i]
		n.is(EventProbeError, p.Name, "probe "+p.Name, p.Err, p.Err != "" && !p.Lacks)
	}
	if s.GPU != nil {
		n.gpus(s.GPU)
	}
	n.killed(s.Host, s.Process)
	if s.Host != nil {
		n.host(s.Host)
	}
	return n.events
}

// notes gathers the events of one sample.
type notes struct {
	*conditions
	at     time.Time
	mono   time.Duration
	events []Event
}

func (n *notes) add(kind, text string) {
	n.events = append(n.events, Event{At: n.at, Kind: kind, Text: text})
}

// is takes note of whether something holds, and says so when that is news.
func (n *notes) is(kind, key, subject, what string, holds bool) {
	n.lasts(kind, key, subject, what, holds, 0)
}

// lasts is is for what must have lasted before it is news.
func (n *notes) lasts(kind, key, subject, what string, holds bool, before time.Duration) {
	if !holds && len(n.on) == 0 {
		return
	}
	key = kind + key
	was, on := n.on[key]
	switch {
	case holds && !on:
		if len(n.on) >= maxConditions {
			return
		}
		was = condition{since: n.mono, seen: n.mono}
		fallthrough
	case holds:
		was.seen = n.mono
		if !was.told && n.mono-was.since >= before {
			was.told = true
			n.add(kind, subject+": "+what)
		}
		n.on[key] = was
	case on && !was.told:
		delete(n.on, key)
	case on && n.mono-was.seen >= endsAfter:
		delete(n.on, key)
		text := subject + ": over"
		if what != "" {
			text = subject + ": no more " + what
		}
		n.add(kind, fmt.Sprintf("%s, after %.0f s", text, (was.seen-was.since).Seconds()))
	}
}

// unseen is a moment at which it cannot be told whether something holds: what was told goes
// on, what only seemed to begin is forgotten.
func (n *notes) unseen(kind, key string) {
	if was, on := n.on[kind+key]; on && !was.told {
		delete(n.on, kind+key)
	}
}

// grew reports by how much a counter grew that has not been told: at once at first, then
// once in quietFor. What it was at the beginning is no news.
func (n *notes) grew(key string, counter Opt[float64]) (by float64, news bool) {
	was, known := n.counts[key]
	if was.untold < 0 && n.mono-was.told >= quietFor {
		was.untold = 0
	}
	if now, ok := counter.Get(); ok {
		if !known && len(n.counts) >= maxConditions {
			return 0, false
		}
		if known && now > was.last {
			was.untold += now - was.last
		}
		was.last = now
	} else if !known {
		return 0, false
	}
	by = was.untold
	if news = by > 0 && (!was.any || n.mono-was.told >= quietFor); news {
		was.untold, was.told, was.any = 0, n.mono, true
	}
	n.counts[key] = was
	return by, news
}

// told holds a counter back that counts what another one has told of.
func (n *notes) told(key string, by float64) {
	was, known := n.counts[key]
	if !known {
		return
	}
	was.untold, was.told, was.any = was.untold-by, n.mono, true
	n.counts[key] = was
}
