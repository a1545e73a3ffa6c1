package export

import (
	"fmt"
	"slices"
	"time"

	"llmtop/probes"
)

// engineLanes are the lanes of one engine: requests of one lane do not overlap.
type engineLanes struct {
	pid  int
	ends []micros // of the last request of each lane
}

// lane is the first lane that is free from a time on, -1 when there are too many.
func (e *engineLanes) lane(from micros) int {
	for i, end := range e.ends {
		if end <= from {
			return i
		}
	}
	if len(e.ends) >= maxLanes {
		return -1
	}
	e.ends = append(e.ends, 0)
	return len(e.ends) - 1
}

// engine returns the lanes of an endpoint; the first time the trace is told of them.
func (t *trace) engine(endpoint string) *engineLanes {
	e := t.engines[endpoint]
	if e == nil {
		e = &engineLanes{pid: firstPID + len(t.engines)}
		t.engines[endpoint] = e
		t.process(e.pid, "requests of "+endpoint)
	}
	return e
}

// finished draws the requests that ended, in the order of their arrival as far as they are
// told together: that needs the fewest lanes.
func (t *trace) finished(section *probes.Requests) {
	for _, q := range byArrival(section.Finished) {
		t.request(section.Endpoint, q, time.Time{})
	}
}

// running draws the requests that are in flight at the end of the stretch.
func (t *trace) running(section *probes.Requests) {
	if section == nil {
		return
	}
	for _, q := range byArrival(section.Running) {
		t.request(section.Endpoint, q, section.At)
	}
}

func byArrival(requests []*probes.Request) []*probes.Request {
	out := slices.DeleteFunc(slices.Clone(requests), func(q *probes.Request) bool { return q == nil || q.Arrived.IsZero() })
	slices.SortStableFunc(out, func(a, b *probes.Request) int { return a.Arrived.Compare(b.Arrived) })
	return out
}

// request draws one request and its stages; one that is in flight ends at now.
func (t *trace) request(endpoint string, q *probes.Request, now time.Time) {
	e := t.engine(endpoint)
	start := t.at(q.Arrived)
	edges := stageEdges(start, q.Stages)
	end := edges[probes.NumStages]
	inFlight := !now.IsZero()
	if inFlight {
		end = max(end, min(t.at(now), start+micros(longest)))
	}
	i := e.lane(start)
	if i < 0 {
		return
	}
	if fresh := e.ends[i] == 0; fresh {
		t.write(event{Name: "thread_name", Phase: "M", PID: e.pid, TID: i + 1, Args: map[string]any{"name": fmt.Sprintf("requests %03d", i+1)}})
	}
	e.ends[i] = max(end, 1)
	t.requests++
	t.span(e.pid, i+1, q.ID, "request", start, end, argsOf(q, inFlight))
	for stage := range probes.NumStages {
		if from, to := edges[stage], edges[stage+1]; to > from {
			t.span(e.pid, i+1, probes.StageNames[stage], "stage", from, to, nil)
		}
	}
	if state := q.State; inFlight && end > edges[probes.NumStages] && state != "" {
		t.span(e.pid, i+1, state, "stage", edges[probes.NumStages], end, nil)
	}
}

// stageEdges are where the stages begin, and the end of the last; each begins where the one
// before ends.
func stageEdges(start micros, stages probes.StageSeconds) (edges [probes.NumStages + 1]micros) {
	edges[0] = start
	sum := 0.0
	for i, seconds := range stages {
		if seconds > 0 { // a NaN is not
			sum = min(sum+seconds, longest.Seconds())
		}
		edges[i+1] = start + micros(sum*1e9+0.5)
	}
	return edges
}

func (t *trace) span(pid, tid int, name, cat string, from, to micros, args map[string]any) {
	d := to - from
	t.write(event{Name: name, Phase: "X", TS: from, Dur: &d, PID: pid, TID: tid, Cat: cat, Args: args})
}

// argsOf is what is told of a request beside its times: numbers and words, no text of its own.
func argsOf(q *probes.Request, inFlight bool) map[string]any {
	args := map[string]any{"prompt_tokens": q.PromptTokens, "cached_tokens": q.CachedTokens, "output_tokens": q.OutputTokens}
	if q.Preemptions > 0 {
		args["preemptions"] = q.Preemptions
	}
	if q.Finish != "" {
		args["finish"] = q.Finish
	}
	if q.Class != "" {
		args["class"] = q.Class
	}
	if inFlight {
		args["in_flight"] = true
	}
	return args
}
