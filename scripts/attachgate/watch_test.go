package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

func TestGrid(t *testing.T) {
	var g grid
	for _, c := range []struct {
		mono, pace, late time.Duration
		left             int
	}{
		{1151 * time.Millisecond, time.Second, time.Millisecond, 0},
		{2150 * time.Millisecond, time.Second, 0, 0},
		{3250 * time.Millisecond, time.Second, 100 * time.Millisecond, 0},
		{6151 * time.Millisecond, time.Second, time.Millisecond, 2},
	} {
		if late, left := g.at(c.mono, c.pace); late != c.late || left != c.left {
			t.Errorf("at %s: late %s, %d left out; want %s, %d", c.mono, late, left, c.late, c.left)
		}
	}
}

func TestJudge(t *testing.T) {
	sound := watched{ticks: 20, late: 3 * time.Millisecond, age: 200 * time.Millisecond}
	cases := []struct {
		change func(*watched)
		missed int
	}{
		{func(*watched) {}, 0},
		{func(w *watched) { w.late = 51 * time.Millisecond }, 1},
		{func(w *watched) { w.left = 1 }, 1},
		{func(w *watched) { w.age = 3 * time.Second }, 1},
		{func(w *watched) { w.never = true }, 1},
		{func(w *watched) { w.ticks = 0 }, 1},
	}
	for i, c := range cases {
		w := sound
		c.change(&w)
		var out bytes.Buffer
		if got := report(&out, w.judge(time.Second)); got != c.missed {
			t.Errorf("case %d: %d missed, want %d:\n%s", i, got, c.missed, out.String())
		}
	}
}

func TestReasons(t *testing.T) {
	servers := []server{{good, "http://a", false}, {"hangs", "http://b", true}, {"lies", "http://c", true}}
	w := watched{last: &probes.Sample{
		Scrapes: []*probes.Scrape{{Endpoint: "http://a", Values: []float64{1}}, {Endpoint: "http://c", Values: []float64{1}}},
		Probes:  []probes.ProbeStatus{{}, {Err: "http://b/metrics: no answer"}, {}},
	}}
	rows := w.reasons(servers)
	if !rows[0].ok || !rows[1].ok || rows[2].ok || !strings.Contains(rows[1].seen, "no answer") {
		t.Errorf("got %+v", rows)
	}
}

func TestHasCommand(t *testing.T) {
	help := "Usage:\n  llmtop [URL] [flags]\n\nCommands:\n  record   Record to find it later\n  serve    Serve\n"
	if hasCommand(help, "find") || !hasCommand(help, "serve") {
		t.Error("reads the help wrongly")
	}
	if !hasCommand(help+"  find     Find engines\n", "find") {
		t.Error("find is not seen")
	}
}
