package load

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func config(f *fakeServer) Config {
	return Config{URL: "http://fake:8000/v1", Rate: 5, Duration: 20 * time.Second, Seed: 1, Transport: f}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.006*math.Abs(want) {
		t.Errorf("%s = %v, want %v (within 0.6 %%)", what, got, want)
	}
}

func TestMeasures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{answer: threeTokens}
		r, err := Run(t.Context(), config(f))
		if err != nil {
			t.Fatal(err)
		}
		if r.Sent < 70 || r.Sent > 130 || r.Completed != r.Sent || r.Model != "fake-model" {
			t.Errorf("sent %d, completed %d of model %q, want about 100, all, fake-model", r.Sent, r.Completed, r.Model)
		}
		near(t, "TTFT p50", r.TTFT.P50, 1)
		near(t, "TTFT mean", r.TTFT.Mean, 1)
		near(t, "TPOT p99", r.TPOT.P99, .1)
		near(t, "E2E p95", r.E2E.P95, 1.2)
		near(t, "prompt tokens", r.Prompt.Mean, 12)
		near(t, "tokens out", float64(r.Tokens.Out), 3*float64(r.Sent))
		near(t, "requests a second", r.SentRate, float64(r.Sent)/20)
		near(t, "tokens a second", r.Tokens.OutPerSecond, float64(r.Tokens.Out)/r.ElapsedSeconds)
		if r.Client.Capped != 0 || r.Client.Lag.Max > .001 || len(r.Client.Bottleneck) != 0 {
			t.Errorf("client %+v, want on time and no bottleneck", r.Client)
		}
		for _, b := range f.bodies {
			if !b.Stream || !b.Options.Usage || b.Model != "fake-model" || b.MaxTokens != 0 || b.Messages[0].Content == "" {
				t.Fatalf("request %+v, want a stream with usage and a prompt", b)
			}
		}
	})
}

// At a rate so low that the next moment is beyond a Duration, nothing is due yet.
func TestRareArrivals(t *testing.T) {
	for _, rate := range []float64{1e-9, 1e-12, 1e-300, math.SmallestNonzeroFloat64} {
		a := newArrivals(1, rate)
		for range 5 {
			if at := a.next(); at < time.Hour || at > never {
				t.Errorf("rate %g: an arrival at %s", rate, at)
			}
		}
	}
}

// However slow the server, requests arrive when they should.
func TestOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{answer: func(w *events) {
			w.wait(50 * time.Second)
			w.text("late")
			w.finish(1, 1)
		}}
		start := time.Now()
		r, err := Run(t.Context(), config(f))
		if err != nil {
			t.Fatal(err)
		}
		want := newArrivals(1, 5)
		for i, at := range f.arrived {
			if due := want.next(); at.Sub(start) != due {
				t.Fatalf("request %d arrived after %v, want %v", i, at.Sub(start), due)
			}
		}
		if next := want.next(); next < 20*time.Second {
			t.Errorf("the arrival at %v was left out", next)
		}
		if uint64(r.Client.MaxInFlight) != r.Sent {
			t.Errorf("%d of %d in flight at once, want all", r.Client.MaxInFlight, r.Sent)
		}
	})
}

// A server that works off one request a second, at two arrivals a second: waiting
// grows to about half of the run, and the client must say so.
func TestNoCoordinatedOmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lane := make(chan struct{}, 1)
		f := &fakeServer{answer: func(w *events) {
			lane <- struct{}{}
			w.wait(time.Second)
			<-lane
			w.text("done")
			w.finish(1, 1)
		}}
		c := config(f)
		c.Rate, c.Duration = 2, 60*time.Second
		r, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		backlog := float64(r.Sent) - 60
		if r.E2E.Max < backlog*0.8 || r.E2E.P50 < backlog/4 {
			t.Errorf("E2E p50 %.1f s, max %.1f s with a final backlog of %.0f s", r.E2E.P50, r.E2E.Max, backlog)
		}
	})
}

func TestEndings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{
			answer: func(w *events) { w.text("half an ans") },
			refuse: func(n int) *http.Response {
				switch n % 4 {
				case 0:
					return response(429, "slow down")
				case 1:
					return response(503, "no \x1b[31mcapacity\nhere")
				}
				return nil
			},
		}
		r, err := Run(t.Context(), config(f))
		if err != nil {
			t.Fatal(err)
		}
		if r.Rejected != r.Sent/4 || r.Completed != 0 || r.Rejected+r.Failed != r.Sent || r.TTFT != nil {
			t.Errorf("%+v, want a quarter rejected, the rest failed, no latency", r)
		}
		if len(r.Errors) != 2 || r.Errors[0].Kind != "broken stream" || r.Errors[1].Kind != "http 503" || r.Errors[1].Example != "no [31mcapacity here" {
			t.Errorf("errors %+v", r.Errors)
		}
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{answer: func(w *events) {
			w.text("first")
			w.wait(time.Hour)
		}}
		c := config(f)
		c.Timeout = 3 * time.Second
		start := time.Now()
		r, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if r.TimedOut != r.Sent || r.Failed+r.Aborted != 0 {
			t.Errorf("%+v, want all timed out", r)
		}
		if took := time.Since(start); took > 23*time.Second {
			t.Errorf("took %v, want the duration and at most one timeout", took)
		}
	})
}

// Without a duration the context is the end; synctest fails if a goroutine stays.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		f := &fakeServer{answer: func(w *events) { w.wait(time.Hour) }}
		c := config(f)
		c.Duration = 0
		c.Progress = func(Report) {}
		r, err := Run(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Aborted != r.Sent || r.Sent < 30 {
			t.Errorf("%d of %d aborted, want all", r.Aborted, r.Sent)
		}
	})
}

func TestInFlightCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{answer: func(w *events) {
			w.wait(30 * time.Second)
			w.finish(1, 0)
		}}
		c := config(f)
		c.MaxInFlight = 7
		r, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Sent != 7 || r.Client.MaxInFlight != 7 || r.Client.Capped < 60 || len(r.Client.Bottleneck) != 1 {
			t.Errorf("sent %d, client %+v, want 7 and the rest capped", r.Sent, r.Client)
		}
	})
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var parts []Report
		c := config(&fakeServer{answer: threeTokens})
		c.Interval = 2 * time.Second
		c.Progress = func(r Report) { mu.Lock(); parts = append(parts, r); mu.Unlock() }
		whole, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		var sent, completed uint64
		for _, p := range parts {
			near(t, "interval", p.ElapsedSeconds, 2)
			sent, completed = sent+p.Sent, completed+p.Completed
		}
		if sent != whole.Sent || completed > whole.Completed || completed < whole.Completed-15 || parts[3].InFlight == 0 {
			t.Errorf("intervals add up to %d sent, %d completed; whole %d, %d", sent, completed, whole.Sent, whole.Completed)
		}
	})
}

func TestSeedRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prompts := func(seed int64) (all []string) {
			f := &fakeServer{answer: threeTokens}
			c := config(f)
			c.Seed, c.PromptTokens, c.PromptSpread = seed, 100, .5
			if _, err := Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			for _, b := range f.bodies {
				all = append(all, b.Messages[0].Content)
			}
			return all
		}
		a, b, other := prompts(3), prompts(3), prompts(4)
		if strings.Join(a, "\n") != strings.Join(b, "\n") {
			t.Error("one seed gave two sequences of prompts")
		}
		if a[0] == other[0] && a[1] == other[1] {
			t.Error("two seeds gave the same prompts")
		}
	})
}

// Requests ask for the priorities given, about evenly and each in its own way of
// writing; by default for none. The same seed asks for the same.
func TestPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := func(priorities ...string) (all []any) {
			f := &fakeServer{answer: threeTokens}
			c := config(f)
			c.Priorities = priorities
			if _, err := Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			for _, b := range f.bodies {
				all = append(all, b.Priority)
			}
			return all
		}
		counts := map[any]int{}
		first := asked("background", "-3")
		for _, p := range first {
			counts[p]++
		}
		if b, n := counts["background"], counts[-3.0]; b < 25 || n < 25 || b+n != len(first) {
			t.Errorf("of %d requests %v", len(first), counts)
		}
		if !slices.Equal(first, asked("background", "-3")) {
			t.Error("one seed asked for two sequences of priorities")
		}
		for _, p := range asked() {
			if p != nil {
				t.Fatalf("priority %v without being told", p)
			}
		}
	})
}

// endWatch says whether its reader was read to the end.
type endWatch struct {
	io.Reader
	ended bool
}

func (e *endWatch) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	e.ended = e.ended || err == io.EOF
	return n, err
}

func (e *endWatch) Close() error { return nil }

// A body not read to its end costs its connection, and the next request a new one.
func TestReadsToTheEnd(t *testing.T) {
	text := "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	body := &endWatch{Reader: io.MultiReader(strings.NewReader(text), strings.NewReader("\n"))}
	c, err := Config{URL: "h", Rate: 1, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: body}, nil
	})}.complete()
	if err != nil {
		t.Fatal(err)
	}
	if o := newClient(c).do(t.Context(), nil, time.Now()); o.end != completed || !body.ended {
		t.Errorf("outcome %+v, read to the end: %v", o, body.ended)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNoServer(t *testing.T) {
	answers := func(status int, body string) http.RoundTripper {
		return roundTrip(func(*http.Request) (*http.Response, error) { return response(status, body), nil })
	}
	cases := []struct {
		name  string
		with  http.RoundTripper
		model string
		want  string
	}{
		{"html", answers(200, "<html>hello</html>"), "", "http://fake:8000/v1/models is no list of models: is this an OpenAI-compatible server?"},
		{"no models", answers(200, `{"data":[]}`), "", "http://fake:8000/v1/models lists no model"},
		{"not there", answers(404, ""), "", "http://fake:8000 answers 404 to /v1/models: name a model, or is this no OpenAI-compatible server?"},
		{"key", answers(401, ""), "m", "http://fake:8000 answers 401: it wants another API key"},
		{"hangs", roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}), "m", "no answer from http://fake:8000: timed out"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := Run(t.Context(), Config{URL: "fake:8000", Rate: 1, Model: c.model, Transport: c.with})
				if err == nil || err.Error() != c.want {
					t.Errorf("error %v, want %s", err, c.want)
				}
			})
		})
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), Config{URL: url, Rate: 1})
	if want := "no answer from " + url + ": connection refused"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestCancelledBeforeStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &fakeServer{answer: threeTokens}
	if _, err := Run(ctx, config(f)); !errors.Is(err, context.Canceled) || len(f.arrived) != 0 {
		t.Errorf("error %v after %d requests, want context.Canceled after none", err, len(f.arrived))
	}
}
