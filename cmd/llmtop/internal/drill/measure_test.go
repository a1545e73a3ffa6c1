package drill

import (
	"math"
	"testing"
	"time"

	"llmtop/engine/twin"
	"llmtop/probes"
)

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// ended is a request that ended at a second and took so long for its first token and in all.
func ended(at, ttft, e2e float64) *probes.Request {
	q := &probes.Request{Finish: "stop", Arrived: midnight.Add(time.Duration((at - e2e) * float64(time.Second))), OutputTokens: 11}
	q.TTFTSeconds, q.E2ESeconds, q.MaxITLSeconds = probes.Some(ttft), probes.Some(e2e), probes.Some(e2e/4)
	q.Stages[probes.StageDecode] = e2e - ttft
	return q
}

// waiting is one that came at a second and has no token yet.
func waiting(at float64) *probes.Request {
	return &probes.Request{Arrived: midnight.Add(time.Duration(at * float64(time.Second)))}
}

// aRun is a minute of calm and 90 s of a fault, a sample every ten seconds.
func aRun() *staged {
	return &staged{Scenario: twin.Scenario{Start: midnight, Duration: 150 * time.Second}, Onset: time.Minute}
}

func TestMeasure(t *testing.T) {
	tally := twin.Tally{}
	measured := func(symptom string, stuck ...*probes.Request) (before, during float64, err error) {
		s := aRun()
		m := newMeasure(symptom, s, func() twin.Tally { return tally })
		tally = twin.Tally{}
		var last *probes.Sample
		for at := 10.0; at <= 150; at += 10 {
			last = &probes.Sample{At: midnight.Add(time.Duration(at) * time.Second)}
			factor := 1.0
			if at > 60 {
				factor = 2
			}
			if at > 60 && at <= 90 {
				factor = 100 // on its way: does not count
			}
			r := &probes.Requests{}
			for n := range 10 {
				if symptom != "none" {
					r.Finished = append(r.Finished, ended(at-float64(n)/2, 0.1*factor, 2.1*factor))
				}
				r.Finished = append(r.Finished, &probes.Request{Finish: "abort", Arrived: last.At})
			}
			tally.Arrived, tally.Finished = tally.Arrived+20, tally.Finished+10
			tally.ClientTTFT += time.Duration(10 * factor * float64(time.Second))
			if at > 60 {
				tally.Rejected += 2
			}
			last.Requests = []*probes.Requests{r}
			if at == 150 {
				r.Running = stuck
			}
			m.observe(last)
		}
		return m.result(last)
	}
	for _, c := range []struct {
		symptom        string
		before, during float64
	}{
		{"ttft.p50", 0.1, 0.2}, {"ttft.p95", 0.1, 0.2}, {"tpot.p50", 0.2, 0.4}, {"e2e.p95", 2.1, 4.2}, {"itl.p95", 2.1 / 4, 2.1 / 2},
		{"client.ttft", 1, 2}, {"failed", 1, 1 + 20*0.1},
	} {
		before, during, err := measured(c.symptom)
		if err != nil || math.Abs(before-c.before) > 1e-9 || math.Abs(during-c.during) > 1e-9 {
			t.Errorf("%s: %v, %v, %v, want %v, %v", c.symptom, before, during, err, c.before, c.during)
		}
	}
	// Sixty requests ended; as many and more that have no token yet are older than any of them.
	var stuck []*probes.Request
	for range 80 {
		stuck = append(stuck, waiting(100))
	}
	if _, during, err := measured("ttft.p50", stuck...); err != nil || during != 50 {
		t.Errorf("what waits for 50 s: %v, %v", during, err)
	}
	for i := range stuck { // those that came just now tell nothing
		stuck[i] = waiting(149.95)
	}
	if _, during, err := measured("ttft.p50", stuck...); err != nil || during != 0.2 {
		t.Errorf("what waits for 50 ms: %v, %v", during, err)
	}
	if _, _, err := measured("none"); err == nil {
		t.Error("nothing ended, and there is a result")
	}
}

// Of a disaggregated deployment each request is told twice; the prompts' engines do not count.
func TestMeasureSkipsPrefills(t *testing.T) {
	s := aRun()
	s.Prefills = 1
	m := newMeasure("e2e.p50", s, func() twin.Tally { return twin.Tally{} })
	last := &probes.Sample{}
	for _, at := range []float64{50, 140} {
		first, second := &probes.Requests{}, &probes.Requests{}
		for range leastValues {
			first.Finished, second.Finished = append(first.Finished, ended(at, 0.1, 0.1)), append(second.Finished, ended(at, 0.1, at/10))
		}
		last = &probes.Sample{At: midnight.Add(time.Duration(at) * time.Second), Requests: []*probes.Requests{first, second}}
		m.observe(last)
	}
	if before, during, err := m.result(last); err != nil || before != 5 || during != 14 {
		t.Errorf("%v, %v, %v", before, during, err)
	}
}

func TestQuantile(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for p, want := range map[float64]float64{0.5: 3, 0.95: 5, 0.2: 1, 1: 5} {
		if got := quantile(values, p); got != want {
			t.Errorf("%v: %v, want %v", p, got, want)
		}
	}
}

func TestConfirmation(t *testing.T) {
	rows := []struct {
		name                 string
		c                    Confirm
		before, ever, during []float64
		holds, unseen        bool
	}{
		{"rises", Confirm{Rises: 2}, []float64{1, 1, 9}, nil, []float64{2, 2, 0}, true, false},
		{"rises too little", Confirm{Rises: 2}, []float64{1}, nil, []float64{1.9}, false, false},
		{"rises from nothing", Confirm{Rises: 2}, nil, nil, []float64{0.1}, true, false},
		{"stays nothing", Confirm{Rises: 2}, []float64{0}, nil, []float64{0}, false, false},
		{"falls", Confirm{Falls: 0.5}, []float64{4}, nil, []float64{2}, true, false},
		{"falls from nothing known", Confirm{Falls: 0.5}, nil, nil, []float64{0}, false, false},
		{"least", Confirm{Least: 3}, nil, nil, []float64{3}, true, false},
		{"least and most", Confirm{Least: 3, Most: 4}, nil, nil, []float64{5}, false, false},
		{"ever", Confirm{Least: 3, Ever: true}, nil, []float64{0, 3, 0}, []float64{0}, true, false},
		{"ever low", Confirm{Most: 1, Ever: true}, nil, []float64{5, 1, 5}, []float64{5}, true, false},
		{"gone", Confirm{Least: 1}, []float64{1}, nil, nil, false, false},
		{"unseen", Confirm{Least: 1}, nil, nil, nil, false, true},
	}
	for _, r := range rows {
		m := movement{before: r.before, ever: append(r.ever, r.during...), during: r.during}
		if r.ever != nil {
			m.ever = r.ever
		}
		if got := m.against(&r.c); got.Holds != r.holds || got.Unseen != r.unseen {
			t.Errorf("%s: %+v", r.name, got)
		}
	}
}
