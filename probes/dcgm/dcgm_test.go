package dcgm

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

// exporter answers with pages that a test makes, and counts how often it was asked.
type exporter struct {
	page   *probes.Scrape
	err    error
	asked  int
	closed bool
}

func (e *exporter) Name() string { return "page" }
func (e *exporter) Close() error { e.closed = true; return nil }
func (e *exporter) Read(context.Context) (probes.Section, error) {
	e.asked++
	if e.page == nil {
		return nil, e.err
	}
	return e.page, e.err
}

// renew makes the page one of later, with another energy when it was renewed.
func (e *exporter) renew(at time.Time, renewed bool) {
	p := *e.page
	p.At, p.Values = at, slices.Clone(p.Values)
	for i := range p.Schema.Series {
		if renewed && p.Schema.Series[i].Name == prefix+energy {
			p.Values[i] += 1e6
		}
	}
	e.page = &p
}

// bench is a probe whose clock the test moves.
func bench(e *exporter, o Options) (p *Probe, move func(time.Duration)) {
	now := began
	p = New("http://127.0.0.1:9400", e, o)
	p.now = func() time.Time { return now }
	return p, func(d time.Duration) { now = now.Add(d) }
}

// While an exporter is looked for, none is no trouble and asked for once a minute; one that
// was there and is gone is trouble.
func TestLookingForAnExporter(t *testing.T) {
	e := &exporter{err: errors.New("connection refused")}
	p, move := bench(e, Options{Looking: true})
	read := func() (probes.Section, error) { return p.Read(t.Context()) }
	for range 6 {
		if s, err := read(); s != nil || !probes.IsLacking(err) || !strings.Contains(err.Error(), "no DCGM exporter: connection refused") {
			t.Fatalf("section %v, error %v", s, err)
		}
		move(10 * time.Second)
	}
	if e.asked != 1 {
		t.Errorf("asked %d times in 60 s, want once", e.asked)
	}
	e.page, e.err = page(t, []byte("some_metric 1\n")), nil
	if s, err := read(); s != nil || !probes.IsLacking(err) {
		t.Errorf("a page of something else: section %v, error %v", s, err)
	}
	move(time.Minute)
	e.page = fixture(t, "a100")
	if s, err := read(); err != nil || len(s.(*probes.GPU).Devices) != 2 {
		t.Fatalf("section %v, error %v", s, err)
	}
	e.page, e.err = nil, errors.New("connection refused")
	for range 2 {
		if s, err := read(); s != nil || err == nil || probes.IsLacking(err) {
			t.Errorf("one that went away: section %v, error %v", s, err)
		}
	}
	if e.asked != 5 {
		t.Errorf("asked %d times in all, want 5", e.asked)
	}
	if p.Close(); !e.closed {
		t.Error("the page's probe was not closed")
	}
}

// An exporter that somebody named is expected to be there.
func TestNamedExporter(t *testing.T) {
	p, _ := bench(&exporter{err: errors.New("connection refused")}, Options{})
	if _, err := p.Read(t.Context()); err == nil || probes.IsLacking(err) {
		t.Errorf("error %v", err)
	}
}

// An exporter that is not needed is not asked.
func TestNotWanted(t *testing.T) {
	e := &exporter{page: fixture(t, "a100")}
	why := errors.New("the driver tells it")
	p, _ := bench(e, Options{Looking: true, Wanted: func(context.Context) error { return why }})
	if s, err := p.Read(t.Context()); s != nil || !probes.IsLacking(err) || !errors.Is(err, why) || e.asked > 0 {
		t.Errorf("section %v, error %v, asked %d times", s, err, e.asked)
	}
	why = nil
	if s, err := p.Read(t.Context()); s == nil || err != nil {
		t.Errorf("section %v, error %v", s, err)
	}
}

// The readings are dated by the fetch that showed them first, and the period is the time
// between two such fetches.
func TestRenewal(t *testing.T) {
	e := &exporter{page: fixture(t, "a100")}
	p, _ := bench(e, Options{})
	var got, want []time.Duration // since began: age of the devices, then the period
	for i, renewed := range []bool{true, false, false, true, false, false, true, false, false, false, false} {
		at := began.Add(time.Duration(i) * 10 * time.Second)
		e.renew(at, renewed)
		s, err := p.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d := s.(*probes.GPU).Devices[1]
		got = append(got, at.Sub(d.At), time.Duration(d.PeriodSeconds*float64(time.Second)))
	}
	const s = time.Second
	for _, age := range []time.Duration{0, 10, 20, 0, 10, 20, 0, 10, 20, 30, 40} {
		want = append(want, age*s, 30*s)
	}
	if !slices.Equal(got, want) {
		t.Errorf("ages and periods %v, want %v", got, want)
	}
}

// A page without a counter that always moves may be that of a GPU at rest: what is answered
// is no older than a period. With one, a page that stands still is stale.
func TestStandingPage(t *testing.T) {
	for name, want := range map[string]time.Duration{"shared": 30 * time.Second, "a100": 5 * time.Minute} {
		e := &exporter{page: fixture(t, name)}
		p, _ := bench(e, Options{})
		p.Read(t.Context())
		e.renew(began.Add(5*time.Minute), false)
		s, _ := p.Read(t.Context())
		if age := e.page.At.Sub(s.(*probes.GPU).Devices[0].At); age != want {
			t.Errorf("%s: %v old, want %v", name, age, want)
		}
	}
}

// An exporter that is asked more rarely than it renews, or that stands still for long, has
// a period between what can be seen and two minutes.
func TestPeriod(t *testing.T) {
	for _, c := range []struct{ every, want time.Duration }{{10 * time.Second, 10 * time.Second}, {time.Hour, mostPeriod}} {
		e := &exporter{page: fixture(t, "a100")}
		p, _ := bench(e, Options{})
		var s probes.Section
		for i := range 3 {
			e.renew(began.Add(time.Duration(i)*c.every), true)
			s, _ = p.Read(t.Context())
		}
		if got := s.(*probes.GPU).Devices[0].PeriodSeconds; got != c.want.Seconds() {
			t.Errorf("renewed every %v: period %v s, want %v", c.every, got, c.want)
		}
	}
}
