package rules

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"llmtop/probes"
)

// genRequest draws a request; a few are as no engine should tell them.
func genRequest(t *rapid.T, running bool) *probes.Request {
	seconds := []float64{0, 0.05, 0.2, 1, 3.7, 12, 41}
	r := &probes.Request{PromptTokens: rapid.IntRange(0, 5).Draw(t, "prompt"), OutputTokens: rapid.IntRange(0, 9).Draw(t, "output")}
	for _, s := range []probes.Stage{probes.StageQueue, probes.StagePrefill, probes.StageDecode} {
		r.Stages[s] = rapid.SampledFrom(seconds).Draw(t, "stage")
	}
	if rapid.IntRange(0, 60).Draw(t, "no number") == 0 {
		r.Stages[probes.StageDecode] = math.NaN()
	}
	if !running {
		r.Finish = rapid.SampledFrom([]string{"stop", "stop", "stop", "length", "rejected", "abort", "error"}).Draw(t, "finish")
		r.E2ESeconds = probes.Some(age(r))
	}
	if rapid.IntRange(0, 60).Draw(t, "odd finish") == 0 {
		r.Finish = rapid.SampledFrom([]string{"", "stop"}).Draw(t, "finish")
	}
	if rapid.IntRange(0, 3).Draw(t, "first token") > 0 && r.Finish != "rejected" {
		r.TTFTSeconds = probes.Some(r.Stages[probes.StageQueue] + r.Stages[probes.StagePrefill])
	}
	return r
}

func genSection(t *rapid.T, at time.Time, endpoint string) *probes.Requests {
	s := &probes.Requests{At: at, Endpoint: endpoint, InFlight: rapid.IntRange(0, 5).Draw(t, "in flight")}
	for range rapid.IntRange(0, 6).Draw(t, "finished") {
		s.Finished = append(s.Finished, genRequest(t, false))
	}
	for range rapid.IntRange(0, 3).Draw(t, "running") {
		s.Running = append(s.Running, genRequest(t, true))
	}
	return s
}

// pages are two shapes of one engine's page.
var pages = [2]*probes.Schema{pageOf("0.1", "1"), pageOf("0.1", "1", "10")}

func pageOf(bounds ...string) *probes.Schema {
	s := &probes.Schema{Series: []probes.Series{
		{Family: "vllm:num_requests_waiting", Name: "vllm:num_requests_waiting", Type: probes.Gauge},
		{Family: "vllm:generation_tokens", Name: "vllm:generation_tokens_total", Type: probes.Counter}}}
	for _, f := range []string{"vllm:time_to_first_token_seconds", "vllm:request_queue_time_seconds", "vllm:inter_token_latency_seconds"} {
		add := func(name string, labels ...probes.Label) {
			s.Series = append(s.Series, probes.Series{Family: f, Name: f + name, Type: probes.HistogramType, Labels: labels})
		}
		add("_sum")
		add("_count")
		for _, le := range append(bounds, "+Inf") {
			add("_bucket", probes.Label{Name: "le", Value: le})
		}
	}
	return s
}

// genScrape draws an engine's page: as the one before and more, or of a new process, or of another shape.
func genScrape(t *rapid.T, older *probes.Scrape, at time.Time, endpoint string) *probes.Scrape {
	s := &probes.Scrape{At: at, Endpoint: endpoint, Schema: pages[rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1}).Draw(t, "shape")]}
	goesOn := older != nil && older.Schema == s.Schema && rapid.IntRange(0, 9).Draw(t, "restart") > 0
	for i := range s.Schema.Series {
		v := float64(rapid.IntRange(0, 4).Draw(t, "growth"))
		if goesOn {
			v += older.Values[i]
		}
		if rapid.IntRange(0, 200).Draw(t, "no number") == 0 {
			v = math.NaN()
		}
		s.Values = append(s.Values, v)
	}
	return s
}

// genSample draws the next tick of a collection: sections come anew, come again, come
// late or not at all, and the clock may be set.
func genSample(t *rapid.T, older *probes.Sample) *probes.Sample {
	step := rapid.SampledFrom([]float64{1, 1, 1, 1, 1, 0.4, 4, 31}).Draw(t, "step")
	jump := rapid.SampledFrom([]float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 300, -300, -0.9}).Draw(t, "jump")
	s := &probes.Sample{Interval: time.Second, At: older.At.Add(time.Duration((step + jump) * 1e9)), Mono: older.Mono + time.Duration(step*1e9)}
	for i, endpoint := range []string{"http://a", "http://b"}[:rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "engines")] {
		at := s.At.Add(-time.Duration(rapid.SampledFrom([]float64{0, 0, 0, 0.1, 2}).Draw(t, "read") * 1e9))
		switch how := rapid.IntRange(0, 9).Draw(t, "section"); {
		case how < 2:
		case how < 4 && i < len(older.Requests):
			s.Requests = append(s.Requests, older.Requests[i])
		default:
			s.Requests = append(s.Requests, genSection(t, at, endpoint))
		}
		var before *probes.Scrape
		if i < len(older.Scrapes) {
			before = older.Scrapes[i]
		}
		switch how := rapid.IntRange(0, 9).Draw(t, "page"); {
		case how < 2:
		case how < 4 && before != nil:
			s.Scrapes = append(s.Scrapes, before)
		default:
			s.Scrapes = append(s.Scrapes, genScrape(t, before, at, endpoint))
		}
	}
	return s
}

// Carried from tick to tick, the ledger says what its definition says of the wide
// span alone, to the last bit; and no signal depends on samples older than lookSpan.
func TestWhatIsCarriedIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		short, long, l := probes.NewWindow(lookSpan, NewDecoder()), probes.NewWindow(baseKeep, Point), newLedger()
		s := &probes.Sample{At: t0}
		for tick := range rapid.IntRange(1, 40).Draw(t, "ticks") {
			s = genSample(t, s)
			n := l.look(short, short.Push(s))
			got, want := compute(n), compute(look(long, long.Push(s)))
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("tick %d: %s = %v (%s), want %v (%s)", tick, table[i].Name, got[i], got[i].Why(), want[i], want[i].Why())
				}
			}
			plain := plainGather(n)
			for m := range numMeasures {
				compareMeasure(t, tick, n, &plain, m)
			}
			compareFresh(t, n, &plain, s)
		}
	})
}

func compareMeasure(t *rapid.T, tick int, n *now, plain *plainRecords, m measure) {
	want, l, q := plain.measured(m)
	s, got, newest := n.records.measured(m)
	if !slices.EqualFunc(got.values, l.values, alike) || !alike(got.sum, l.sum) || got.wide != l.wide {
		t.Fatalf("tick %d, measure %d: %+v, want %+v", tick, m, got, l)
	}
	if newest != q {
		t.Fatalf("tick %d, measure %d: newest %+v, want %+v", tick, m, newest, q)
	}
	same := func(a, b observation) bool {
		return alike(a.value, b.value) && alike(a.ago, b.ago) && a.censored == b.censored && a.of == b.of
	}
	if all := slices.Collect(s.all()); !slices.EqualFunc(all, want, same) {
		t.Fatalf("tick %d, measure %d: %+v, want %+v", tick, m, all, want)
	}
}

// compareFresh checks the requests of the newest seconds, and how many of all were refused.
func compareFresh(t *rapid.T, n *now, plain *plainRecords, s *probes.Sample) {
	seconds := rapid.SampledFrom([]float64{0.5, 1, 2, 8}).Draw(t, "fresh")
	var want []*probes.Request
	refused := 0.0
	for _, f := range plain.finished {
		if f.r.Finish == "rejected" {
			refused++
		}
		if f.ago < seconds && f.r.TTFTSeconds.Seen() {
			want = append(want, f.r)
		}
	}
	var got []*probes.Request
	for o := range n.records.since(seconds) {
		got = append(got, o.of)
	}
	for i := range n.records.ledger.told {
		refused -= n.records.ledger.told[i].refused
	}
	if !slices.Equal(got, want) || refused != 0 {
		t.Fatalf("%s: fresh %v, want %v; %g refused ones too few", s.At, got, want, refused)
	}
}

func TestSortedExchanges(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) probes.Opt[float64] {
		return rapid.SampledFrom([]probes.Opt[float64]{missing(), probes.Some(1.0), probes.Some(2.0), probes.Some(2.5), probes.Some(7.0)}).Draw(t, "value")
	})
	rapid.Check(t, func(t *rapid.T) {
		var s sorted
		var readings []probes.Opt[float64]
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			in, out := value.Draw(t, "in"), missing()
			if len(readings) > 3 {
				out, readings = readings[0], readings[1:]
			}
			s.exchange(out, in)
			readings = append(readings, in)
			var want []float64
			for _, r := range readings {
				if v, ok := r.Get(); ok {
					want = append(want, v)
				}
			}
			slices.Sort(want)
			if !slices.Equal(s, want) {
				t.Fatalf("%v, want %v", s, want)
			}
		}
	})
}
