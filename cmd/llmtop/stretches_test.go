package main

import (
	"strings"
	"testing"

	"llmtop/panes"
	"llmtop/rules"
)

// TestChosenStretches sets ends in every order and compares.
func TestChosenStretches(t *testing.T) {
	samples := samplesOf(t, "show requests\nrequests.rate 6x40 60x40\nstage.queue 0.002x40 0.5+0.05x40\nqueue.waiting 0x40 5+1x40\nat 80s nothing\n")
	p := playerOf(t, recordingOf(t, samples))
	compare := func(said string) *rules.Comparison {
		t.Helper()
		p.Compare(true)
		p.settle()
		if said != "" {
			if p.comparing != nil || !strings.Contains(p.viewer.said, said) {
				t.Errorf("says %q, want %q", p.viewer.said, said)
			}
			return nil
		}
		if p.comparing == nil || p.comparing.result == nil {
			t.Fatalf("no comparison: %s", p.viewer.said)
		}
		return p.comparing.result
	}
	set := func(e panes.End, at int) {
		p.Step(at - p.viewer.at)
		p.settle()
		p.SetEnd(e)
		p.settle()
	}
	compare("set a (from) and b (to) first")
	set(panes.SelectedFrom, 45)
	compare("fewer than 3")
	p.Step(20)
	c := (&player{t, p.settle().viewer}).comparing
	if c != nil {
		t.Error("open before it was asked for")
	}
	r := compare("") // from a to here, against as long before
	if r.After.Samples != 21 || r.Before.Samples != 21 || r.Before.To.After(r.After.From) {
		t.Errorf("compared %+v with %+v", r.Before, r.After)
	}
	set(panes.SelectedTo, 70)
	if p.comparing != nil {
		t.Error("moving on leaves the comparison open")
	}
	set(panes.AgainstTo, 30)
	set(panes.AgainstFrom, 10)
	r = compare("")
	if r.Before.Name != "A–B" || r.Before.Samples != 21 || r.After.Samples != 26 {
		t.Errorf("compared %+v with %+v", r.Before, r.After)
	}
	if r.Moved() == 0 || len(r.Added) == 0 || r.Added[0].Parts[0].Stage != "queue" {
		t.Errorf("moved %d, added %+v", r.Moved(), r.Added)
	}
	if len(r.After.Verdicts) == 0 || r.After.Verdicts[0].State == "" {
		t.Errorf("verdicts %+v", r.After.Verdicts)
	}
	set(panes.SelectedTo, 40) // before a: a is forgotten
	if s := p.chosen(panes.SelectedFrom); !s.From.IsZero() || s.To.IsZero() {
		t.Errorf("chosen %+v", s)
	}
	p.ClearEnds()
	p.settle()
	compare("set a (from) and b (to) first")
	set(panes.SelectedFrom, 1)
	set(panes.SelectedTo, 20)
	compare("too little before a")
}

// TestLiveCompares: on what a live screen keeps.
func TestLiveCompares(t *testing.T) {
	past, live := &history{}, fold(t)
	for _, s := range samplesOf(t, "show requests\nrequests.rate 6x40 60x40\nstage.queue 0.002x40 0.5+0.05x40\nat 80s nothing\n") {
		past.push(live.Observe(s))
	}
	v := newViewer(past, panes.Frame{}, true)
	v.app = panes.NewApp(nil, v)
	p := &player{t, v}
	v.move(past.last())
	p.SetEnd(panes.SelectedTo)
	p.Step(-20)
	p.SetEnd(panes.SelectedFrom)
	p.Compare(true)
	p.settle()
	if p.comparing == nil || p.comparing.result == nil || p.comparing.result.After.Samples != 21 {
		t.Fatalf("no comparison: %q", p.said)
	}
}
