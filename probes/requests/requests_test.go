package requests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

var t0 = time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)

// engine is a stand-in for one: it finishes requests and forgets all but the last keep.
type engine struct {
	pid   int
	now   time.Time
	last  uint64
	keep  uint64
	asked []string
	down  error
}

func (e *engine) RoundTrip(r *http.Request) (*http.Response, error) {
	e.asked = append(e.asked, r.URL.RawQuery)
	if e.down != nil {
		return nil, e.down
	}
	w := httptest.NewRecorder()
	e.answer(w, r)
	return w.Result(), nil
}

func (e *engine) answer(w io.Writer, r *http.Request) {
	after, _ := strconv.ParseUint(r.FormValue("after"), 10, 64)
	limit, _ := strconv.ParseUint(r.FormValue("limit"), 10, 64)
	if after > e.last {
		after = 0
	}
	missed := uint64(0)
	if e.last > e.keep && after < e.last-e.keep {
		missed, after = e.last-e.keep-after, e.last-e.keep
	}
	next := min(e.last, after+limit)
	var finished []string
	for seq := after + 1; seq <= next; seq++ {
		finished = append(finished, one(seq, "finished", t0.Add(time.Duration(seq)*time.Second)))
	}
	running := []string{}
	if r.FormValue("state") != "finished" {
		running = append(running, one(7, "decode", t0))
	}
	fmt.Fprintf(w, `{"engine":"llmtop","pid":%d,"now":"%s","next":%d,"missed":%d,"in_flight":3,"running":[%s],"finished":[%s]}`,
		e.pid, e.now.Format(time.RFC3339Nano), next, missed, strings.Join(running, ","), strings.Join(finished, ","))
}

func one(seq uint64, state string, arrived time.Time) string {
	at, _ := json.Marshal(arrived)
	return fmt.Sprintf(`{"seq":%d,"id":"h%d","state":"%s","arrived":%s,"prompt_tokens":5,"output_tokens":3,"stages":{"tokenize":0.25,"queue":0.5,"decode":0.25},"ttft_seconds":0.75}`, seq, seq, state, at)
}

func read(t *testing.T, p *Probe) *probes.Requests {
	t.Helper()
	section, err := p.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return section.(*probes.Requests)
}

// span is the sequence numbers of a section, first to last, checked to be gapless.
func span(t *testing.T, r *probes.Requests) string {
	t.Helper()
	if len(r.Finished) == 0 {
		return "none"
	}
	for i, f := range r.Finished {
		if f.Seq != r.Finished[0].Seq+uint64(i) {
			t.Errorf("number %d follows %d", f.Seq, r.Finished[0].Seq+uint64(i)-1)
		}
	}
	return fmt.Sprintf("%d-%d", r.Finished[0].Seq, r.Finished[len(r.Finished)-1].Seq)
}

func TestReadFollows(t *testing.T) {
	e := &engine{pid: 42, last: 5000, keep: 8192}
	p := New("http://ops:geheim@gpu-7:8000", Options{Transport: e})
	if p.PID() != 0 || p.Name() != "requests http://gpu-7:8000" {
		t.Errorf("pid %d before the first answer, name %q", p.PID(), p.Name())
	}
	first := read(t, p)
	if got := span(t, first); got != "none" || first.Missed != 0 || p.PID() != 42 {
		t.Errorf("the first read: %s, %d missed, pid %d; want nothing of before", got, first.Missed, p.PID())
	}
	if first.InFlight != 3 || len(first.Running) != 1 || first.Running[0].State != "decode" || first.Endpoint != "http://gpu-7:8000" {
		t.Errorf("the first read: %+v", first)
	}
	steps := []struct {
		name   string
		more   uint64
		want   string
		missed int
		asked  int
	}{
		{"nothing new", 0, "none", 0, 1},
		{"some", 3, "5001-5003", 0, 1},
		{"more than a page", 4500, "5004-9503", 0, 3},
		{"more than the engine remembers", 10000, "11312-19503", 1808, 5},
		{"nothing new again", 0, "none", 0, 1},
	}
	for _, s := range steps {
		e.last += s.more
		e.asked = nil
		got := read(t, p)
		if span(t, got) != s.want || got.Missed != s.missed || len(e.asked) != s.asked {
			t.Errorf("%s: got %s, %d missed, %d questions; want %s, %d, %d", s.name, span(t, got), got.Missed, len(e.asked), s.want, s.missed, s.asked)
		}
	}
}

func TestReadAfterARestart(t *testing.T) {
	cases := []struct {
		name string
		pid  int
		last uint64
		want string
	}{
		{"counts from the beginning", 42, 3, "1-3"},
		{"has overtaken the old one", 43, 200, "1-200"},
		{"has finished nothing yet", 43, 0, "none"},
	}
	for _, c := range cases {
		e := &engine{pid: 42, last: 100, keep: 8192}
		p := New("gpu-7:8000", Options{Transport: e})
		read(t, p)
		e.pid, e.last = c.pid, c.last
		if got := span(t, read(t, p)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		e.last += 2
		if got, want := span(t, read(t, p)), fmt.Sprintf("%d-%d", c.last+1, c.last+2); got != want {
			t.Errorf("%s: then %s, want %s", c.name, got, want)
		}
		if p.PID() != c.pid {
			t.Errorf("%s: pid %d", c.name, p.PID())
		}
	}
}

// Request n arrived n s after t0 and took 1 s. The engine's clock counts, not ours.
func TestReadHistory(t *testing.T) {
	e := &engine{pid: 42, now: t0.Add(101 * time.Second), last: 100, keep: 8192}
	p := New("gpu-7:8000", Options{Transport: e, History: 30 * time.Second})
	if got := span(t, read(t, p)); got != "70-100" {
		t.Errorf("got %s, want those that ended in the last 30 s", got)
	}
}

func TestReadAgainAfterAFault(t *testing.T) {
	e := &engine{pid: 42, last: 100, keep: 8192}
	p := New("gpu-7:8000", Options{Transport: e})
	read(t, p)
	e.last, e.down = 105, errors.New("broken pipe")
	if _, err := p.Read(context.Background()); err == nil || !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("got %v", err)
	}
	e.down = nil
	if got := span(t, read(t, p)); got != "101-105" {
		t.Errorf("got %s, want nothing lost", got)
	}
}

func TestBacksOffWhenNotExposed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		p := New("gpu-7:8000", Options{Transport: inProcess(func(w http.ResponseWriter, r *http.Request) { asked++; http.NotFound(w, r) })})
		for range 61 {
			section, err := p.Read(context.Background())
			if section != nil || err == nil || !strings.HasPrefix(err.Error(), "stage times of requests are not exposed by this engine: http://gpu-7:8000/debug/requests: ") {
				t.Fatalf("got %v, %v", section, err)
			}
			if !probes.IsLacking(err) {
				t.Fatal("counts as trouble")
			}
			<-time.After(time.Second)
		}
		if asked != 3 {
			t.Errorf("asked %d times in 61 s, want every 30 s", asked)
		}
	})
}

type inProcess http.HandlerFunc

func (h inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h(w, r)
	return w.Result(), nil
}
