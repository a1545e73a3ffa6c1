package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func (e *testEngine) requests(t *testing.T, query string) requestsAnswer {
	t.Helper()
	return decodeBody[requestsAnswer](t, e.get("/debug/requests"+query))
}

// The names on the wire are a format that others read: they are written out here.
func TestRequestsWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newClock()
		clock.tick = time.Millisecond
		e := startFake(t, func(c *Config, f *fakeRunner) { c.Now = clock.now })
		defer e.stop()
		if w := e.post(t.Context(), "/v1/completions", completion(5, 3, `,"stream":true`)); w.Code != 200 {
			t.Fatal(w.Code)
		}
		w := e.get("/debug/requests")
		top := decodeBody[map[string]json.RawMessage](t, w)
		if got, want := slices.Sorted(maps.Keys(top)), []string{"engine", "finished", "in_flight", "missed", "next", "now", "pid", "running"}; !slices.Equal(got, want) {
			t.Errorf("fields %v, want %v", got, want)
		}
		var all []map[string]any
		if err := json.Unmarshal(top["finished"], &all); err != nil || len(all) != 1 {
			t.Fatalf("%v: %s", err, top["finished"])
		}
		r := all[0]
		want := []string{
			"arrived", "cached_tokens", "class", "detokenize_busy_seconds", "e2e_seconds", "finish", "id", "max_itl_seconds", "output_tokens",
			"prompt_bytes", "prompt_tokens", "send_busy_seconds", "seq", "stages", "state", "stream", "ttft_seconds",
		}
		if got := slices.Sorted(maps.Keys(r)); !slices.Equal(got, want) {
			t.Errorf("fields of a request %v, want %v", got, want)
		}
		for field, want := range map[string]any{
			"seq": 1.0, "state": "finished", "finish": "length", "stream": true, "class": "normal",
			"prompt_bytes": 5.0, "prompt_tokens": 6.0, "cached_tokens": 0.0, "output_tokens": 3.0,
		} {
			if r[field] != want {
				t.Errorf("%s is %v, want %v", field, r[field], want)
			}
		}
		stages, sum := r["stages"].(map[string]any), 0.0
		names := []string{"receive", "parse", "auth", "tokenize", "assemble", "queue", "batch", "prefill", "decode", "detokenize", "send"}
		for _, name := range names {
			d, ok := stages[name].(float64)
			if !ok || d <= 0 {
				t.Errorf("stage %s took %v; every reading of the clock moves it", name, stages[name])
			}
			sum += d
		}
		if e2e := r["e2e_seconds"].(float64); len(stages) != len(names) || math.Abs(sum-e2e) > 1e-12 {
			t.Errorf("%d stages sum to %g, end to end %g", len(stages), sum, e2e)
		}
		if strings.Contains(w.Body.String(), "xxxxx") || strings.Contains(w.Body.String(), "cmpl-") {
			t.Errorf("a prompt or an id is told: %s", w.Body)
		}
	})
}

// The time to the first token is the time to the first written byte of a stream, and
// to the first token of another answer, as in the metrics.
func TestTTFT(t *testing.T) {
	for _, more := range []string{`,"stream":true`, ""} {
		synctest.Test(t, func(t *testing.T) { timeToFirstToken(t, more) })
	}
}

func timeToFirstToken(t *testing.T, more string) {
	clock, g := newClock(), newGate()
	e := startFake(t, func(c *Config, f *fakeRunner) { c.Now, f.before = clock.now, g.before })
	defer e.stop()
	over := make(chan struct{})
	go func() {
		defer close(over)
		e.post(t.Context(), "/v1/completions", completion(5, 3, more))
	}()
	for _, ms := range []int{70, 20, 50} { // each step takes so long
		<-g.arrived
		clock.advance(time.Duration(ms) * time.Millisecond)
		g.pass <- struct{}{}
		synctest.Wait()
	}
	g.release()
	<-over
	r := e.requests(t, "").Finished[0]
	for name, c := range map[string]struct{ got, want float64 }{
		"ttft": {*r.TTFT, .07}, "e2e": {*r.E2E, .14}, "max itl": {*r.MaxITL, .05},
		"prefill": {r.Stages["prefill"], .07}, "decode": {r.Stages["decode"], .07},
	} {
		if c.got != c.want {
			t.Errorf("%s is %g, want %g", name, c.got, c.want)
		}
	}
}

// What waits after a preemption is inside prefill or decode, and told apart.
func TestPreemptedSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, both := newClock(), make(chan struct{})
		e := startFake(t, func(c *Config, f *fakeRunner) {
			c.Now, c.NumBlocks = clock.now, 8
			f.before = func(step int) error {
				if step == 1 {
					<-both
				}
				clock.advance(time.Second)
				return nil
			}
		})
		defer e.stop()
		over := make(chan struct{})
		for range 2 {
			go func() {
				e.post(t.Context(), "/v1/completions", completion(4, 20, ""))
				over <- struct{}{}
			}()
		}
		synctest.Wait()
		close(both)
		<-over
		<-over
		got := e.requests(t, "").Finished
		slices.SortFunc(got, func(a, b requestJSON) int { return a.Preemptions - b.Preemptions })
		if len(got) != 2 || got[0].Preemptions != 0 || got[1].Preemptions == 0 || got[0].PreemptedTime != 0 {
			t.Fatalf("finished %+v", got)
		}
		r := got[1]
		if r.PreemptedTime <= 0 || r.PreemptedTime > r.Stages["decode"] || *r.MaxITL <= 1 {
			t.Errorf("preempted %g s of %g s decode, longest gap %g s", r.PreemptedTime, r.Stages["decode"], *r.MaxITL)
		}
	})
}

func TestRequestsQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := startFake(t, func(c *Config, f *fakeRunner) { f.before = g.before })
		defer e.stop()
		now := e.config.Now()
		for range 5 {
			e.log.close(e.log.open("id", now), FinishStop, now)
		}
		over := make(chan struct{})
		for range 3 {
			go func() {
				e.post(t.Context(), "/v1/completions", completion(3, 2, ""))
				over <- struct{}{}
			}()
		}
		<-g.arrived
		synctest.Wait()
		for _, c := range []struct {
			query             string
			running, finished int
			next              uint64
		}{
			{"", 3, 5, 5},
			{"?state=running", 3, 0, 0},
			{"?state=running&after=4&limit=1", 1, 0, 4},
			{"?state=finished", 0, 5, 5},
			{"?after=3", 3, 2, 5},
			{"?after=5", 3, 0, 5},
			{"?after=77", 3, 5, 5}, // another engine's number
			{"?after=0&limit=2", 2, 2, 2},
		} {
			got := e.requests(t, c.query)
			if len(got.Running) != c.running || len(got.Finished) != c.finished || got.Next != c.next || got.InFlight != 3 || got.Missed != 0 {
				t.Errorf("%q: %d running, %d finished, next %d, in flight %d, missed %d; want %+v",
					c.query, len(got.Running), len(got.Finished), got.Next, got.InFlight, got.Missed, c)
			}
		}
		for _, query := range []string{"?state=dead", "?after=-1", "?after=x", "?limit=0", "?limit=x"} {
			if w := e.get("/debug/requests" + query); w.Code != 400 {
				t.Errorf("%q: %d", query, w.Code)
			}
		}
		g.release()
		for range 3 {
			<-over
		}
	})
}

// The ring forgets the oldest and says how many a reader has missed.
func TestRequestLogRing(t *testing.T) {
	l := newRequestLog()
	now := newClock().at
	const all = finishedKept + 100
	for n := range all {
		r := l.open(fmt.Sprint(n), now)
		l.close(r, FinishStop, now)
	}
	got, missed, next := l.after(40, 10)
	if len(got) != 10 || missed != 60 || next != 110 || got[0].seq != 101 {
		t.Errorf("%d requests from %d, missed %d, next %d", len(got), got[0].seq, missed, next)
	}
	got, missed, next = l.after(all-1, finishedKept)
	if len(got) != 1 || missed != 0 || next != all || got[0].seq != all || got[0].id != l.hash(fmt.Sprint(all-1)) {
		t.Errorf("%d requests, missed %d, next %d", len(got), missed, next)
	}
	if running, n := l.inFlight(10); len(running) != 0 || n != 0 {
		t.Errorf("%d in flight", n)
	}
}

// Hashed ids tell requests apart, are short, and differ between engines.
func TestHashedIDs(t *testing.T) {
	a, b := newRequestLog(), newRequestLog()
	if a.hash("x") == a.hash("y") || a.hash("x") == b.hash("x") || len(a.hash("x")) != 12 || a.hash("x") != a.hash("x") {
		t.Errorf("%s %s %s", a.hash("x"), a.hash("y"), b.hash("x"))
	}
}
