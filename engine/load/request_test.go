package load

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Each request is told once, with its times, whatever became of it.
func TestRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers atomic.Int32
		f := &fakeServer{
			answer: func(w *events) {
				if answers.Add(1)%10 == 0 { // text, and then no more
					w.text("The ")
					w.wait(time.Hour)
					return
				}
				threeTokens(w)
			},
			refuse: func(n int) *http.Response {
				if n%7 == 0 {
					return response(http.StatusTooManyRequests, "full")
				}
				return nil
			},
		}
		c := config(f)
		c.Timeout = 5 * time.Second
		ends, told := map[string]uint64{}, uint64(0)
		c.Ended = func(r Request) {
			told++
			ends[r.End]++
			want := Request{TTFT: 1, TPOT: .1, Gap: .1, Age: 1.2, Prompt: 12, Output: 3}
			switch r.End {
			case "rejected":
				want = Request{}
			case "timed_out":
				want = Request{TTFT: r.TTFT, Gap: 5, Age: 5}
			}
			for name, v := range map[string][2]float64{"ttft": {r.TTFT, want.TTFT}, "tpot": {r.TPOT, want.TPOT}, "gap": {r.Gap, want.Gap}, "age": {r.Age, want.Age}} {
				if math.Abs(v[0]-v[1]) > 1e-3 {
					t.Errorf("%s request: %s %v, want %v", r.End, name, v[0], v[1])
				}
			}
			if r.Due.IsZero() || r.Prompt != want.Prompt || r.Output != want.Output {
				t.Errorf("%+v, want %+v", r, want)
			}
		}
		report, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if told != report.Sent || ends["completed"] != report.Completed || ends["rejected"] != report.Rejected || ends["timed_out"] != report.TimedOut {
			t.Errorf("told %d: %v; the report has %+v", told, ends, report)
		}
		if report.TimedOut == 0 || report.Rejected == 0 {
			t.Errorf("%+v: want some of each", report)
		}
	})
}

// With one connection requests wait for each other within the client, and that counts.
func TestConnections(t *testing.T) {
	var most, now atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"data":[{"id":"m"}]}`)
			return
		}
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-time.After(time.Millisecond)
		now.Add(-1)
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer s.Close()
	report, err := Run(t.Context(), Config{URL: s.URL, Rate: 5000, Duration: 20 * time.Millisecond, Seed: 1, Connections: 1})
	if err != nil || report.Completed < 20 || report.Completed != report.Sent {
		t.Fatalf("%+v, %v", report, err)
	}
	if most.Load() != 1 {
		t.Errorf("%d requests at once on one connection", most.Load())
	}
	if wait := time.Duration(report.Completed-10) * time.Millisecond / 2; report.TTFT.Max < wait.Seconds() {
		t.Errorf("the last of %d requests waited %v s, want at least %s", report.Completed, report.TTFT.Max, wait)
	}
}
