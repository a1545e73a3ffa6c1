package probes

import (
	"fmt"
	"strings"
	"time"
)

// jumpLimit is how far the wall clock may part from the monotonic one between
// two ticks before that is an event. NTP slews stay below 0.5 ms a second.
const jumpLimit = 500 * time.Millisecond

// Event kinds that the collector reports.
const (
	EventRestart   = "engine-restart" // the engine's start time, PID or most counters went back
	EventReset     = "counter-reset"  // single counters went back in an engine that runs on
	EventClockJump = "clock-jump"     // wall and monotonic clock parted by more than 500 ms
	EventLate      = "late-tick"      // a tick more than 1.5 intervals after the one before
)

// EventKinds lists the kinds of events.
var EventKinds = []string{EventRestart, EventReset, EventClockJump, EventLate, EventProbeError, EventGPULost, EventGPUError, EventGPUThrottle, EventGPUXid,
	EventGPUMemory, EventGPURecovery, EventGPUPCIe, EventGPUNVLink, EventOOMKill, EventFilesystem, EventLinkDown, EventVersion, EventFlags, EventEngineLog}

// Watcher compares each sample with the one before and reports what happened in between.
// The zero value is ready; it is of one collection.
type Watcher struct {
	at      time.Time
	mono    time.Duration
	pid     int
	scrapes map[string]*Scrape // by endpoint
	restart time.Duration      // mono of the last restart reported
	any     bool               // a restart has been reported
	lasting conditions
	logs    logWatch
	configs configWatch
}

// Events are those between the sample before and this one, in which they belong.
func (w *Watcher) Events(s *Sample) []Event {
	events := w.clock(s)
	told := w.any && s.Mono-w.restart < 5*time.Second // a scrape and a PID tell of the same restart
	restarts := w.engines(s)
	if len(restarts) == 0 && !told {
		restarts = w.process(s)
	}
	if s.Process != nil {
		w.pid = s.Process.PID
	}
	for _, e := range restarts {
		if e.Kind == EventRestart {
			w.any, w.restart = true, s.Mono
		}
	}
	events = append(append(events, restarts...), w.configs.events(s)...)
	events = append(events, w.lasting.events(s)...)
	return append(events, w.logs.events(s)...)
}

func (w *Watcher) clock(s *Sample) (events []Event) {
	if !w.at.IsZero() {
		jump := s.At.Sub(w.at) - (s.Mono - w.mono)
		if jump > jumpLimit || jump < -jumpLimit {
			events = append(events, Event{At: s.At, Kind: EventClockJump, Text: fmt.Sprintf("the wall clock jumped by %+.1f s", jump.Seconds())})
		}
		if d := s.Mono - w.mono; Late(d, s.Interval) {
			events = append(events, Event{At: s.At, Kind: EventLate, Text: fmt.Sprintf("%.1f s after the sample before", d.Seconds())})
		}
	}
	w.at, w.mono = s.At, s.Mono
	return events
}

// Late reports whether d, by the monotonic clock, is too long between two ticks to
// pass for one interval: what lies in between was not seen.
func Late(d, interval time.Duration) bool { return interval > 0 && d > interval+interval/2 }

// process goes by the engine's process. Of several engines it is the first that has one:
// another number may be another engine's.
func (w *Watcher) process(s *Sample) []Event {
	if s.Process == nil || w.pid == 0 || s.Process.PID == 0 || s.Process.PID == w.pid || severalEngines(s) {
		return nil
	}
	return []Event{{At: s.At, Kind: EventRestart, Text: fmt.Sprintf("engine process %d is now %d", w.pid, s.Process.PID)}}
}

// severalEngines reports that the process may be that of another engine than before: it is
// of the first one that has one. What of them restarts is told by their pages.
func severalEngines(s *Sample) bool {
	asked := 0
	for i := range s.Probes {
		if strings.HasPrefix(s.Probes[i].Name, "scrape ") {
			asked++
		}
	}
	return max(asked, len(s.Scrapes)) > 1
}

func (w *Watcher) engines(s *Sample) (events []Event) {
	if w.scrapes == nil {
		w.scrapes = map[string]*Scrape{}
	}
	for _, now := range s.Scrapes {
		before := w.scrapes[now.Endpoint]
		if before == now {
			continue
		}
		w.scrapes[now.Endpoint] = now
		if before != nil && before.Schema != nil && now.Schema != nil {
			if kind, text := compare(before, now); kind != "" {
				events = append(events, Event{At: s.At, Kind: kind, Text: now.Endpoint + ": " + text})
			}
		}
	}
	return events
}

// compare says whether the engine restarted between two scrapes, or only some counters fell.
func compare(before, now *Scrape) (kind, text string) {
	was, isWas := startTime(before)
	is, isNow := startTime(now)
	if isWas && isNow && is-was > 1 { // a start time of the same process may wobble in its last digits
		return EventRestart, fmt.Sprintf("the engine started anew at %s", time.Unix(int64(is), 0).UTC().Format(time.TimeOnly))
	}
	fell, counted, first := fallen(before, now)
	switch {
	case fell == 0:
		return "", ""
	case 2*fell >= counted && !(isWas && isNow):
		return EventRestart, fmt.Sprintf("%d of %d counters went back", fell, counted)
	}
	return EventReset, fmt.Sprintf("%d of %d counters went back, first %s", fell, counted, Printable(first, 100))
}

// startTime finds the process start of a page, in seconds since 1970.
func startTime(s *Scrape) (float64, bool) {
	for i := range s.Schema.Series {
		if strings.HasSuffix(s.Schema.Series[i].Name, "process_start_time_seconds") && i < len(s.Values) && s.Values[i] > 0 {
			return s.Values[i], true
		}
	}
	return 0, false
}

// fallen counts the cumulative series that were above 0, and those of them that are lower now.
func fallen(before, now *Scrape) (fell, counted int, first string) {
	match := matcher(before.Schema, now.Schema)
	for i := range before.Schema.Series {
		series := &before.Schema.Series[i]
		if !cumulative(series) || i >= len(before.Values) || !(before.Values[i] > 0) {
			continue
		}
		j := match(i)
		if j < 0 || j >= len(now.Values) {
			continue
		}
		counted++
		if now.Values[j] < before.Values[i]*(1-1e-9) {
			if fell == 0 {
				first = series.Name
			}
			fell++
		}
	}
	return fell, counted, first
}

// cumulative reports whether a series may only grow. Buckets are left to their count.
func cumulative(s *Series) bool {
	return s.Type == Counter || s.Type == HistogramType && strings.HasSuffix(s.Name, "_count")
}

// matcher finds the index in b of series i of a, -1 when it is gone.
func matcher(a, b *Schema) func(i int) int {
	if a == b {
		return func(i int) int { return i }
	}
	index := make(map[string]int, len(b.Series))
	for j := range b.Series {
		if cumulative(&b.Series[j]) {
			index[b.Series[j].Key()] = j
		}
	}
	return func(i int) int {
		if j, ok := index[a.Series[i].Key()]; ok {
			return j
		}
		return -1
	}
}
