package export

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/probes/record"
)

// traceEvent is an event as a viewer reads it.
type traceEvent struct {
	Name *string        `json:"name"`
	Ph   string         `json:"ph"`
	TS   *float64       `json:"ts"`
	Dur  *float64       `json:"dur"`
	PID  *int           `json:"pid"`
	TID  *int           `json:"tid"`
	Cat  string         `json:"cat"`
	S    string         `json:"s"`
	Args map[string]any `json:"args"`
}

func traced(t *testing.T, r *record.Reader, o Options) (events []traceEvent, requests int) {
	t.Helper()
	var b bytes.Buffer
	requests, err := Trace(t.Context(), &b, r, o)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		DisplayTimeUnit string
		OtherData       map[string]string
		TraceEvents     []traceEvent
	}
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if _, err := time.Parse(time.RFC3339, doc.OtherData["start"]); err != nil || doc.DisplayTimeUnit != "ms" {
		t.Errorf("head: %+v, %v", doc.OtherData, err)
	}
	return doc.TraceEvents, requests
}

// checkTrace holds events against the rules of the format: the members that each phase
// needs, and in each lane complete events in the order of time that overlap only when one
// lies within the other.
func checkTrace(t *testing.T, events []traceEvent) (phases map[string]int) {
	t.Helper()
	type lane struct{ pid, tid int }
	type bar struct{ from, to float64 }
	open, last := map[lane][]bar{}, map[lane]float64{}
	named := map[lane]bool{}
	phases = map[string]int{}
	const hair = 0.0005 // half a nanosecond: sums of decimal numbers
	for i, e := range events {
		if e.Name == nil || *e.Name == "" || e.TS == nil || e.PID == nil || e.TID == nil {
			t.Fatalf("event %d lacks something: %+v", i, e)
		}
		at := lane{*e.PID, *e.TID}
		if *e.TS < 0 || math.IsNaN(*e.TS) {
			t.Fatalf("event %d is at %v", i, *e.TS)
		}
		phases[e.Ph]++
		switch e.Ph {
		case "M":
			if e.Args["name"] == nil && e.Args["sort_index"] == nil {
				t.Fatalf("event %d: metadata without name: %+v", i, e)
			}
			if *e.Name == "thread_name" {
				named[at] = true
			}
		case "i":
			if e.S != "g" && e.S != "p" && e.S != "t" {
				t.Fatalf("event %d: scope %q", i, e.S)
			}
		case "C":
			for _, v := range e.Args {
				if _, ok := v.(float64); !ok {
					t.Fatalf("event %d: counter of %T", i, v)
				}
			}
			if len(e.Args) == 0 {
				t.Fatalf("event %d: counter of nothing", i)
			}
		case "X":
			if e.Dur == nil || *e.Dur < 0 {
				t.Fatalf("event %d: duration %v", i, e.Dur)
			}
			if !named[at] {
				t.Fatalf("event %d: lane %v has no name", i, at)
			}
			if *e.TS < last[at] {
				t.Fatalf("event %d: at %v after %v", i, *e.TS, last[at])
			}
			last[at] = *e.TS
			stack, b := open[at], bar{*e.TS, *e.TS + *e.Dur}
			for len(stack) > 0 && stack[len(stack)-1].to <= b.from+hair {
				stack = stack[:len(stack)-1]
			}
			if n := len(stack); n > 0 && b.to > stack[n-1].to+hair {
				t.Fatalf("event %d: %v reaches out of %v", i, b, stack[n-1])
			}
			open[at] = append(stack, b)
		default:
			t.Fatalf("event %d: phase %q", i, e.Ph)
		}
	}
	return phases
}

// TestTraceOfAnIncident draws each request with its stages, all of its time.
func TestTraceOfAnIncident(t *testing.T) {
	r := open(t, incident)
	events, requests := traced(t, r, whole(r))
	phases := checkTrace(t, events)
	finished := map[string]*probes.Request{}
	for i := range r.Len() {
		s, err := r.At(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range s.Requests {
			for _, q := range section.Finished {
				finished[q.ID] = q
			}
		}
	}
	drawn, lanes, counters := 0, map[int]bool{}, map[string]int{}
	for _, e := range events {
		if e.Ph == "C" {
			counters[*e.Name]++
		}
		if q := finished[*e.Name]; e.Cat == "request" && q != nil {
			drawn++
			lanes[*e.TID] = true
			sum := 0.0
			for _, s := range q.Stages {
				sum += s
			}
			if math.Abs(*e.Dur-sum*1e6) > 0.01 || e.Args["output_tokens"] != float64(q.OutputTokens) {
				t.Fatalf("%s lasts %v us, want %v; %v", q.ID, *e.Dur, sum*1e6, e.Args)
			}
		}
	}
	if drawn != len(finished) || requests < drawn || drawn < 1000 {
		t.Errorf("%d requests drawn (%d told), want %d", drawn, requests, len(finished))
	}
	if len(lanes) > 150 {
		t.Errorf("%d lanes", len(lanes))
	}
	if phases["i"] != 3 || counters["queue depth"] == 0 || counters["running"] == 0 || counters["KV cache usage"] == 0 {
		t.Errorf("phases %v, counters %v", phases, counters)
	}
}

// TestTraceOfOddRequests: two engines, requests in flight, one that arrived before the
// recording, impossible stages, GPUs, and everything that is an instant.
func TestTraceOfOddRequests(t *testing.T) {
	ask := func(id string, arrived float64, stages ...float64) *probes.Request {
		q := &probes.Request{ID: id, State: "finished", Arrived: second(arrived)}
		copy(q.Stages[:], stages)
		return q
	}
	first, later := sampleAt(0), sampleAt(5)
	first.Requests = []*probes.Requests{{At: second(0), Endpoint: "http://a", Finished: []*probes.Request{
		ask("early", -3, 0, 1, 0, 1.5), ask("short", -1, 0.25), ask("mad", -0.5, math.NaN(), math.Inf(1), -4), ask("never", -1e12, 1)}}}
	decoding := ask("flying", 1, 0, 0, 0, 0, 0, 2)
	decoding.State = "decode"
	later.Requests = []*probes.Requests{first.Requests[0], {At: second(5), Endpoint: "http://b", Running: []*probes.Request{decoding}}}
	later.Events = []probes.Event{{At: second(4.5), Kind: probes.EventRestart, Text: "anew"}}
	later.GPU = &probes.GPU{At: second(4.9), Devices: []probes.GPUDevice{{Index: 3, PowerWatts: probes.Some(700.0)}}}
	r := written(t, record.Entry{Sample: first}, record.Entry{Finding: &record.Finding{At: second(0), State: "healthy"}},
		record.Entry{Mark: &record.Mark{At: second(2), Text: "here"}}, record.Entry{Gap: &record.Gap{From: second(2), To: second(3), Dropped: 2}}, record.Entry{Sample: later})
	events, requests := traced(t, r, whole(r))
	phases := checkTrace(t, events)
	bars, said, pids := map[string]traceEvent{}, "", map[int]bool{}
	for _, e := range events {
		if e.Cat == "request" {
			bars[*e.Name] = e
			pids[*e.PID] = true
		}
		if e.Ph == "i" {
			said += e.Cat + " "
		}
		if *e.Name == "GPU 3 power" && (e.Args["watts"] != 700.0 || *e.TS != 7_900_000) {
			t.Errorf("power: %+v", e)
		}
		if strings.Contains(*e.Name, "SM active") {
			t.Error("a counter that nobody saw")
		}
	}
	if requests != 5 || len(pids) != 2 || *bars["early"].TS != 0 || *bars["early"].Dur != 2_500_000 {
		t.Errorf("%d requests, engines %v, %+v", requests, pids, bars["early"])
	}
	if f := bars["flying"]; *f.TS != 4_000_000 || *f.Dur != 4_000_000 || f.Args["in_flight"] != true {
		t.Errorf("in flight: %+v", f)
	}
	if phases["i"] != 4 || said != "finding mark gap event " {
		t.Errorf("instants: %s", said)
	}
}

// TestLanesAreFew: requests that follow each other share a lane.
func TestLanesAreFew(t *testing.T) {
	e := &engineLanes{}
	for i := range 1000 {
		from := micros(i * 10)
		lane := e.lane(from)
		if lane > 2 {
			t.Fatalf("request %d is in lane %d", i, lane)
		}
		e.ends[lane] = from + 25
	}
}
