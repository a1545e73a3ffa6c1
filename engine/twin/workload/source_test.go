package workload

import (
	"math"
	"testing"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/knob"
)

// source makes one of the given workloads, and the board that it reads.
func source(t testing.TB, c Config, seed uint64) (Source, *knob.Board) {
	t.Helper()
	board := knob.NewBoard(1, 1)
	s, err := New(c, seed, board)
	if err != nil {
		t.Fatal(err)
	}
	return s, board
}

func streams(t testing.TB, texts ...string) Config {
	t.Helper()
	var c Config
	for _, text := range texts {
		s, err := ParseStream(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Streams = append(c.Streams, s)
	}
	return c
}

// turn changes a knob at a time, as a simulation does.
func turn(t testing.TB, s Source, board *knob.Board, now time.Duration, text string) {
	t.Helper()
	c, err := knob.ParseChange(text)
	if err == nil {
		err = board.Apply(c)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Turned(now)
}

// until takes the requests up to a time.
func until(s Source, end time.Duration, see func(*Request)) (n int) {
	for {
		at, ok := s.Due()
		if !ok || at >= end {
			return n
		}
		r := s.Take()
		n++
		if see != nil {
			see(r)
		}
	}
}

func near(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if math.Abs(got-want) > part*math.Abs(want) {
		t.Errorf("%s: got %g, want %g ± %g %%", what, got, want, 100*part)
	}
}

// The gaps have the mean and the variation that they are said to have.
func TestGaps(t *testing.T) {
	for text, cv := range map[string]float64{"poisson": 1, "constant": 0, "gamma:0.5": 0.5, "gamma:1": 1, "gamma:3": 3} {
		s, _ := source(t, streams(t, "chat rate=20 arrivals="+text), 7)
		var sum, squares, last float64
		n := -1.0
		until(s, 5_000*time.Second, func(r *Request) {
			gap := r.At.Seconds() - last
			if last = r.At.Seconds(); n >= 0 {
				sum += gap
				squares += gap * gap
			}
			n++
		})
		mean := sum / n
		near(t, text+": mean gap", mean, 0.05, 0.03)
		if got := math.Sqrt(max(0, squares/n-mean*mean)) / mean; math.Abs(got-cv) > 0.05*max(cv, 0.2) {
			t.Errorf("%s: coefficient of variation %g, want %g", text, got, cv)
		}
	}
}

// Over a day as many requests come as were asked for, most at the peak.
func TestDiurnal(t *testing.T) {
	c := streams(t, "chat rate=2 arrivals=diurnal:0.6,15")
	c.Start = time.Date(2026, 1, 1, 6, 0, 0, 0, time.UTC) // the peak is nine hours away
	s, _ := source(t, c, 3)
	var hours [24]float64
	n := until(s, 24*time.Hour, func(r *Request) { hours[int(r.At.Hours())]++ })
	near(t, "requests of a day", float64(n), 2*86400, 0.02)
	mean := func(h int) float64 { return (hours[h] + hours[h+1]) / 2 / 3600 }
	near(t, "around 15:00", mean(8), 2*1.6, 0.05)
	near(t, "around 03:00", mean(20), 2*0.4, 0.08)
}

// In bursts the rate is so many times as high; over long it is what was asked for.
func TestBursts(t *testing.T) {
	s, _ := source(t, streams(t, "chat rate=10 arrivals=bursty:5,2m,20s"), 3)
	seconds := make([]float64, 50_000)
	n := until(s, time.Duration(len(seconds))*time.Second, func(r *Request) { seconds[int(r.At.Seconds())]++ })
	near(t, "requests", float64(n), 10*float64(len(seconds)), 0.05)
	low := 1 / (1 + 4.0/6) // a sixth of the time at five times as much
	high := 0.0
	for _, v := range seconds {
		if v > 3*10*low {
			high++
		}
	}
	near(t, "share of seconds in bursts", high/float64(len(seconds)), 1.0/6, 0.2)
}

// A turn of the rate counts at once, and what a request asks for stays the same.
func TestRateTurned(t *testing.T) {
	for _, arrivals := range []string{"poisson", "constant", "gamma:2", "diurnal:0.5,3", "bursty:3,1m,10s"} {
		c := streams(t, "chat rate=20 arrivals="+arrivals)
		var before, after []Request
		s, _ := source(t, c, 5)
		until(s, 3000*time.Second, func(r *Request) { before = append(before, *r) })
		s, board := source(t, c, 5)
		keep := func(r *Request) { after = append(after, *r) }
		first := until(s, 1000*time.Second, keep)
		turn(t, s, board, 1000*time.Second, "rate ×3")
		second := until(s, 2000*time.Second, keep)
		turn(t, s, board, 2000*time.Second, "rate ×0")
		if n := until(s, 2500*time.Second, keep); n != 0 {
			t.Errorf("%s: %d requests while none should come", arrivals, n)
		}
		if at, ok := s.Due(); !ok || at < time.Hour {
			t.Errorf("%s: without a rate the next is due at %s, %v", arrivals, at, ok)
		}
		turn(t, s, board, 2500*time.Second, "rate reset")
		if at, _ := s.Due(); at < 2500*time.Second {
			t.Errorf("%s: a request is due at %s, which has passed", arrivals, at)
		}
		if n := until(s, 2600*time.Second, keep); n == 0 {
			t.Errorf("%s: no request comes any more", arrivals)
		}
		near(t, arrivals+": rate ×3", float64(second)/float64(first), 3, 0.15)
		for i := range min(len(before), len(after)) {
			if b, a := before[i], after[i]; i < first && b.At != a.At {
				t.Fatalf("%s: request %d came at %s, then at %s", arrivals, i, b.At, a.At)
			} else if a.Output != b.Output || a.Class != b.Class || a.Stream != b.Stream {
				t.Fatalf("%s: request %d was %+v and is %+v", arrivals, i, b, a)
			}
		}
	}
}

// What would come beyond the end of time does not come.
func TestNever(t *testing.T) {
	c := clock{pace: steady{}, rate: 1, factor: 1}
	for _, gap := range []float64{float64(never) / 1e9 * (1 - 1e-16), 1e10, 1e300} {
		if c.start(gap); c.due() != never {
			t.Errorf("after a gap of %g s a request is due at %s", gap, c.due())
		}
	}
}

// A turn just before a request is due changes when it comes, not that it comes.
func TestTurnedOften(t *testing.T) {
	s, board := source(t, streams(t, "chat rate=1 arrivals=constant"), 1)
	n := 0
	for at := time.Duration(0); at < 1000*time.Second; at += 100 * time.Millisecond {
		n += until(s, at, nil)
		turn(t, s, board, at, []string{"rate ×2", "rate ×1"}[int(at/(100*time.Millisecond))%2])
	}
	near(t, "requests at a rate that changes ten times a second", float64(n), 1500, 0.01)
}

// Each knob changes what it is for, and nothing else.
func TestKnobs(t *testing.T) {
	base := streams(t, "chat rate=50 turns=1")
	type sums struct{ n, own, output, prefix, shared, prompt, adapters, guided, schemas, images, slow, giant float64 }
	look := func(turns ...string) (m sums) {
		s, board := source(t, base, 11)
		for _, text := range turns {
			turn(t, s, board, 0, text)
		}
		adapters, schemas, ids := map[int]bool{}, map[int]bool{}, map[uint64]bool{}
		until(s, 400*time.Second, func(r *Request) {
			m.n++
			own := r.New
			for _, p := range r.Prefix {
				ids[p.ID] = true
				m.shared += float64(p.Tokens)
			}
			m.own += float64(own)
			m.prompt += float64(r.Prompt)
			m.output += float64(r.Output)
			adapters[r.Adapter], schemas[r.Schema] = true, true
			m.images += float64(r.Images)
			if r.Schema > 0 {
				m.guided++
			}
			if r.Slow {
				m.slow++
			}
			if r.Prompt == 20_000 {
				m.giant++
			}
		})
		m.adapters, m.schemas, m.prefix = float64(len(adapters)), float64(len(schemas)), float64(len(ids))
		return m
	}
	was := look()
	if was.n < 15000 || was.shared == 0 || was.adapters != 1 || was.guided != 0 {
		t.Fatalf("at the start: %+v", was)
	}
	share := func(of func(sums) float64) func(sums) float64 { return func(m sums) float64 { return of(m) / m.n } }
	for _, c := range []struct {
		turns []string
		what  string
		of    func(sums) float64
		want  float64
	}{
		{[]string{"rate ×2"}, "requests", func(m sums) float64 { return m.n }, 2 * was.n},
		{[]string{"prompt_tokens ×3"}, "own part", share(func(m sums) float64 { return m.own }), 3 * was.own / was.n},
		{[]string{"prompt_tokens ×3"}, "shared part", share(func(m sums) float64 { return m.shared }), was.shared / was.n},
		{[]string{"output_tokens ×0.5"}, "answers", share(func(m sums) float64 { return m.output }), was.output / was.n / 2},
		{[]string{"prefix_reuse ×0.25"}, "shared part", share(func(m sums) float64 { return m.shared }), was.shared / was.n / 4},
		{[]string{"prefix_reuse ×0"}, "prompts", share(func(m sums) float64 { return m.prompt }), was.prompt / was.n},
		{[]string{"prefixes ×20"}, "different prefixes", func(m sums) float64 { return m.prefix }, 20 * was.prefix},
		{[]string{"giant_prompts 5%", "giant_tokens 20000"}, "giants", share(func(m sums) float64 { return m.giant }), 0.05},
		{[]string{"adapters 8"}, "adapters", func(m sums) float64 { return m.adapters }, 8},
		{[]string{"guided 0.3"}, "guided", share(func(m sums) float64 { return m.guided }), 0.3},
		{[]string{"guided 0.3", "schemas 50"}, "grammars", func(m sums) float64 { return m.schemas - 1 }, 50},
		{[]string{"images 0.2"}, "images", share(func(m sums) float64 { return m.images }), 0.2},
		{[]string{"slow_readers 0.1"}, "slow", share(func(m sums) float64 { return m.slow }), 0.1},
	} {
		near(t, c.turns[0]+": "+c.what, c.of(look(c.turns...)), c.want, 0.08)
	}
}

// The same seed makes the same requests, another one others.
func TestSeed(t *testing.T) {
	c := streams(t, "chat rate=5", "agent rate=2", "rag rate=1")
	c.Spread = 0.1
	list := func(seed uint64) (all []Request) {
		s, _ := source(t, c, seed)
		until(s, 100*time.Second, func(r *Request) {
			one := *r
			one.Prefix = append([]Segment(nil), r.Prefix...)
			all = append(all, one)
		})
		return all
	}
	same := func(a, b []Request) bool {
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if a[i].At != b[i].At || a[i].Prompt != b[i].Prompt || a[i].Output != b[i].Output || len(a[i].Prefix) != len(b[i].Prefix) {
				return false
			}
		}
		return true
	}
	one := list(1)
	if len(one) < 500 || !same(one, list(1)) {
		t.Errorf("%d requests, not the same twice", len(one))
	}
	if same(one, list(2)) {
		t.Error("another seed makes the same requests")
	}
}

// What a kind brings varies with the seed; what a stream states does not.
func TestSpread(t *testing.T) {
	c := streams(t, "chat rate=1 output=500")
	c.Spread = 0.2
	prompts := map[float64]bool{}
	for seed := range uint64(4) {
		m, err := Measure(c, seed, 500)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "output", m.Output, 500, 1e-9)
		prompts[math.Round(m.Prompt/20)] = true
	}
	if len(prompts) < 3 {
		t.Errorf("prompts hardly vary: %v", prompts)
	}
}

// Each kind is about what is published of it.
func TestKinds(t *testing.T) {
	for kind, want := range map[string]Means{
		"chat":      {Prompt: 1260, Output: 215, Shared: 1130},
		"rag":       {Prompt: 2650, Output: 200, Shared: 1450},
		"code":      {Prompt: 2300, Output: 31, Shared: 740},
		"summarise": {Prompt: 4600, Output: 275, Shared: 95},
		"agent":     {Prompt: 9300, Output: 160, Shared: 8900},
		"longtail":  {Prompt: 470, Output: 259, Shared: 155},
	} {
		m, err := Measure(streams(t, kind+" rate=10"), 1, 50_000)
		if err != nil {
			t.Fatal(err)
		}
		near(t, kind+": prompt", m.Prompt, want.Prompt, 0.15)
		near(t, kind+": output", m.Output, want.Output, 0.1)
		near(t, kind+": shared", m.Shared, want.Shared, 0.15)
		near(t, kind+": rate", m.Rate, 10, 0.05)
	}
}

// Classes and streams come in the shares that were asked for.
func TestShares(t *testing.T) {
	c := streams(t, "chat share=0.75 realtime=0.2 background=0.3 stream=0.6", "summarise share=0.25 realtime=0 background=0 stream=0")
	c.Rate = 40
	s, _ := source(t, c, 9)
	var classes [engine.NumClasses]float64
	streamed := 0.0
	n := float64(until(s, 1000*time.Second, func(r *Request) {
		classes[r.Class-engine.Realtime]++
		if r.Stream {
			streamed++
		}
	}))
	near(t, "requests", n, 40_000, 0.03)
	near(t, "realtime", classes[0]/n, 0.75*0.2, 0.05)
	near(t, "background", classes[2]/n, 0.75*0.3, 0.05)
	near(t, "streamed", streamed/n, 0.75*0.6, 0.05)
}

func BenchmarkTake(b *testing.B) {
	for _, kind := range []string{"chat", "rag", "agent", "longtail"} {
		b.Run(kind, func(b *testing.B) {
			s, _ := source(b, streams(b, kind+" rate=50 arrivals=gamma:2+diurnal:0.5,14"), 1)
			b.ReportAllocs()
			for b.Loop() {
				s.Due()
				s.Take()
			}
		})
	}
}
