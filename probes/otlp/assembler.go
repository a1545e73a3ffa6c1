package otlp

import (
	"container/list"
	"slices"
	"time"

	"llmtop/probes"
)

// Spans of one request come from several processes, each with a batch of its own: SGLang's
// every 0.5 s, by default of OpenTelemetry's SDKs (Dynamo, vLLM) every 5 s. A request
// is looked at that long after its own span, which is the last to end.
const (
	sglangSettle = 2 * time.Second
	dynamoSettle = 6 * time.Second
	dynamoStands = 10 * time.Minute // how long an engine is taken to be behind Dynamo after a span of Dynamo
	orphanAfter  = 15 * time.Minute // of a trace whose request does not end
	lateAfter    = 2 * time.Minute  // of what came after the request was looked at
)

// Bounds of what is held: some 30 MB.
const (
	maxTraces  = 16384
	maxStored  = 100_000 // spans of stages, in all traces
	perTrace   = 256     // spans of stages, and as many links
	maxAnchors = 64      // requests of a trace that wait
	maxReady   = 16384   // requests until the next read
	maxRecent  = 65536   // requests whose spans are known again
)

// spans that were lost, by reason, for people.
const (
	lostOrphans = "traces whose request never ended"
	lostMany    = "spans beyond what is held"
)

// batch is what one resource sent in one export.
type batch struct {
	service *service
	spans   []span
}

// done is a request that is complete, or why it is left out.
type done struct {
	service *service
	request *probes.Request
	fault   fault
}

// assembler gathers the spans of requests. Time is an argument.
type assembler struct {
	traces map[traceID]*trace
	order  *list.List // of *trace, the one that was touched longest ago first
	stored int
	recent recent
	ready  []done
	dynamo time.Time // until when engines are taken to be behind it
	lost   map[string]int
}

func newAssembler() *assembler {
	return &assembler{traces: map[traceID]*trace{}, order: list.New(), recent: newRecent(maxRecent), lost: map[string]int{}}
}

// add takes the spans of a batch in. A span that was sent before counts once.
func (a *assembler) add(now time.Time, b batch) {
	if slices.ContainsFunc(b.spans, func(s span) bool { return s.engine == dynamo }) {
		a.dynamo = now.Add(dynamoStands)
	}
	for i := range b.spans {
		s := &b.spans[i]
		if s.trace == (traceID{}) || s.id == (spanID{}) || s.role == ignored {
			continue
		}
		if s.role == request {
			a.anchor(now, s, b.service)
		} else {
			a.keep(now, s)
		}
	}
}

// anchor takes a request's own span: alone it says all (vLLM, TGI), or it waits.
func (a *assembler) anchor(now time.Time, s *span, by *service) {
	if !a.recent.add(seen{s.trace, s.id}) {
		return
	}
	if !s.sound(now) {
		a.put(done{service: by, fault: faultClocks})
		return
	}
	settle := time.Duration(0)
	switch {
	case now.Before(a.dynamo):
		settle = dynamoSettle
	case s.engine == sglang:
		settle = sglangSettle
	default:
		a.recent.add(seen{trace: s.trace}) // should Dynamo's span of it still come
		a.put(build(s, by, nil))
		return
	}
	t := a.trace(now, s.trace)
	if len(t.anchors) >= maxAnchors {
		a.lost[lostMany]++
		return
	}
	t.anchors = append(t.anchors, anchor{*s, by, now.Add(settle)})
	t.link(s)
}

// keep stores a span that is part of a request.
func (a *assembler) keep(now time.Time, s *span) {
	if !s.sound(now) {
		a.lost["spans with "+string(faultClocks)]++
		return
	}
	t := a.trace(now, s.trace)
	switch {
	case s.role == half:
		if len(t.halves) < maxAnchors {
			t.halves[s.id] = true
		}
	case s.role == stage:
		a.store(t, s)
	}
	if s.piece.kind != part || s.role != stage { // a step or chunk has nothing below it
		t.link(s)
	}
}

func (a *assembler) store(t *trace, s *span) {
	key := storedKey{s.parent, s.engine, s.piece}
	x := t.stages[key]
	if x == nil {
		if len(t.stages) >= perTrace {
			a.lost[lostMany]++
			return
		}
		x = &stored{parent: s.parent, engine: s.engine, piece: s.piece}
		t.stages[key] = x
		a.stored++
	}
	x.add(s.start, s.end)
}

// trace finds a trace or begins it; the ones that were not touched for longest make room.
func (a *assembler) trace(now time.Time, id traceID) *trace {
	t := a.traces[id]
	if t == nil {
		for len(a.traces) >= maxTraces || a.stored >= maxStored {
			a.drop(a.order.Front().Value.(*trace), lostMany)
		}
		t = &trace{id: id, halves: map[spanID]bool{}, links: map[spanID]spanID{}, stages: map[storedKey]*stored{}}
		t.at = a.order.PushBack(t)
		a.traces[id] = t
	}
	t.touched = now
	a.order.MoveToBack(t.at)
	return t
}

// drop forgets a trace. Requests in it that still waited are lost, as is one that never ended.
func (a *assembler) drop(t *trace, why string) {
	for i := range t.anchors {
		a.put(done{service: t.anchors[i].service, fault: faultUntold})
	}
	if len(t.anchors) == 0 && !t.used {
		a.lost[why]++
	}
	a.stored -= len(t.stages)
	a.order.Remove(t.at)
	delete(a.traces, t.id)
}

func (a *assembler) put(d done) {
	if len(a.ready) >= maxReady {
		a.lost["requests between two reads, more than are held"]++
		return
	}
	a.ready = append(a.ready, d)
}

// collect returns the requests that are complete by now, each once.
func (a *assembler) collect(now time.Time) []done {
	var next *list.Element
	for e := a.order.Front(); e != nil; e = next {
		next = e.Next()
		t := e.Value.(*trace)
		a.settle(t, now)
		idle := now.Sub(t.touched)
		if len(t.anchors) == 0 && (idle > orphanAfter || t.used && idle > lateAfter) {
			a.drop(t, lostOrphans)
		}
	}
	out := a.ready
	a.ready = nil
	return out
}
