package probes

import (
	"testing"
	"time"
)

// page is a scrape with a start time (0: none), two counters, a histogram's
// count and a gauge.
func page(schema *Schema, values ...float64) *Scrape {
	return &Scrape{Endpoint: "http://x", Schema: schema, Values: values}
}

func pageSchema(start bool) *Schema {
	s := &Schema{Series: []Series{
		{Family: "a_total", Name: "a_total", Type: Counter, Labels: []Label{{"engine", "0"}}},
		{Family: "b_total", Name: "b_total", Type: Counter},
		{Family: "h", Name: "h_count", Type: HistogramType},
		{Family: "g", Name: "g", Type: Gauge},
	}}
	if start {
		s.Series = append(s.Series, Series{Family: "process_start_time_seconds", Name: "process_start_time_seconds", Type: Gauge})
	}
	return s
}

func TestWatcherSeesRestarts(t *testing.T) {
	with, without := pageSchema(true), pageSchema(false)
	grown := &Schema{Series: append([]Series{{Family: "new_total", Name: "new_total", Type: Counter}}, without.Series...)}
	cases := []struct {
		name        string
		before, now *Scrape
		kind        string
	}{
		{"growth", page(with, 5, 6, 7, 8, 1e9), page(with, 6, 6, 9, 2, 1e9), ""},
		{"start time moved", page(with, 5, 6, 7, 8, 1e9), page(with, 5, 6, 7, 8, 1e9+30), EventRestart},
		{"start time wobbles", page(with, 5, 6, 7, 8, 1e9), page(with, 5, 6, 7, 8, 1e9+0.01), ""},
		{"one counter fell, same start", page(with, 5, 6, 7, 8, 1e9), page(with, 2, 6, 9, 2, 1e9), EventReset},
		{"all fell, same start", page(with, 5, 6, 7, 8, 1e9), page(with, 0, 0, 0, 2, 1e9), EventReset},
		{"all fell, no start told", page(without, 5, 6, 7, 8), page(without, 0, 0, 1, 2), EventRestart},
		{"one of three fell", page(without, 5, 6, 7, 8), page(without, 4, 6, 8, 2), EventReset},
		{"a gauge fell", page(without, 5, 6, 7, 8), page(without, 5, 6, 7, 2), ""},
		{"last digits", page(without, 5, 6, 7e9, 8), page(without, 5, 6, 7e9-1e-5, 8), ""},
		{"all fell, other page", page(without, 5, 6, 7, 8), page(grown, 1, 1, 1, 1, 1), EventRestart},
		{"growth, other page", page(without, 5, 6, 7, 8), page(grown, 0, 5, 6, 8, 2), ""},
		{"the page shrank", page(grown, 3, 5, 6, 7, 8), page(&Schema{}), ""},
		{"values are missing", page(without, 5, 6), page(without, 0), EventRestart},
	}
	for _, c := range cases {
		var w Watcher
		w.Events(&Sample{At: sec(0), Scrapes: []*Scrape{c.before}})
		events := w.Events(&Sample{At: sec(1), Mono: time.Second, Scrapes: []*Scrape{c.now}})
		kind := ""
		if len(events) == 1 {
			kind = events[0].Kind
		}
		if kind != c.kind || len(events) > 1 {
			t.Errorf("%s: got %+v, want %q", c.name, events, c.kind)
		}
	}
}

func TestWatcherTellsOfARestartOnce(t *testing.T) {
	schema := pageSchema(true)
	old, young := page(schema, 5, 6, 7, 8, 1e9), page(schema, 0, 0, 0, 0, 1e9+50)
	var w Watcher
	kinds := ""
	for i, s := range []*Sample{
		{Scrapes: []*Scrape{old}, Process: &Process{PID: 10}},
		{Scrapes: []*Scrape{old}, Process: &Process{PID: 10}},
		{Scrapes: []*Scrape{young}, Process: &Process{PID: 10}}, // the page tells first
		{Scrapes: []*Scrape{young}, Process: &Process{PID: 11}},
		{Scrapes: []*Scrape{young}},
		{Scrapes: []*Scrape{young}, Process: &Process{PID: 11}},
		{Scrapes: []*Scrape{young}, Process: &Process{PID: 11}},
		{Scrapes: []*Scrape{young}, Process: &Process{PID: 11}},
		{Scrapes: []*Scrape{young}, Process: &Process{PID: 12}}, // the page does not tell
	} {
		s.At, s.Mono = sec(float64(i)), time.Duration(i)*time.Second
		for _, e := range w.Events(s) {
			kinds += e.Kind + "@" + s.At.Format("05") + " "
		}
	}
	if want := "engine-restart@09 engine-restart@15 "; kinds != want {
		t.Errorf("got %q, want %q", kinds, want)
	}
}

func TestWatcherSeesLateTicks(t *testing.T) {
	var w Watcher
	at := time.Unix(1e9, 0)
	for _, c := range []struct {
		mono time.Duration
		late bool
	}{{0, false}, {time.Second, false}, {2400 * time.Millisecond, false}, {4 * time.Second, true}, {5 * time.Second, false}} {
		events := w.Events(&Sample{At: at.Add(c.mono), Mono: c.mono, Interval: time.Second})
		if late := len(events) == 1 && events[0].Kind == EventLate; late != c.late || len(events) > 1 {
			t.Errorf("at %v: %v, want late %t", c.mono, events, c.late)
		}
	}
}

// The process is that of one engine: with several, that of another one is no restart.
func TestWatcherKnowsWhoseProcessItIs(t *testing.T) {
	for _, c := range []struct {
		name   string
		probes []string
		want   int
	}{
		{"one engine", []string{"host", "scrape http://a", "process"}, 1},
		{"two engines, one of which does not answer", []string{"host", "scrape http://a", "scrape http://b"}, 0},
	} {
		var w Watcher
		got := 0
		for i, pid := range []int{10, 10, 11} {
			s := &Sample{At: sec(float64(i)), Mono: time.Duration(i) * time.Second, Process: &Process{PID: pid}}
			for _, name := range c.probes {
				s.Probes = append(s.Probes, ProbeStatus{Name: name})
			}
			for _, e := range w.Events(s) {
				if e.Kind == EventRestart {
					got++
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %d restarts, want %d", c.name, got, c.want)
		}
	}
}
