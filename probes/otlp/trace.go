package otlp

import (
	"container/list"
	"time"
)

// stored is a span of a stage in a trace.
type stored struct {
	parent spanID
	engine engine
	piece  piece
	interval
}

type storedKey struct {
	parent spanID
	engine engine
	piece  piece
}

// anchor is a request's own span, which waits for the spans of its stages.
type anchor struct {
	span
	service *service
	due     time.Time
}

// trace is what came of one trace and is not used up.
type trace struct {
	id      traceID
	at      *list.Element
	touched time.Time
	used    bool // a request of it was looked at
	anchors []anchor
	halves  map[spanID]bool
	links   map[spanID]spanID // child to parent
	stages  map[storedKey]*stored
}

func (t *trace) link(s *span) {
	if len(t.links) < perTrace {
		t.links[s.id] = s.parent
	}
}

// frontOf is the index of Dynamo's span that an engine's belongs to: by the chain of
// parents, or as it is the only one the trace ever had; −1 for none.
func (t *trace) frontOf(x *anchor) int {
	only, fronts := -1, 0
	for i := range t.anchors {
		if y := &t.anchors[i]; y.engine == dynamo {
			if t.leads(x.id, y.id) {
				return i
			}
			only, fronts = i, fronts+1
		}
	}
	if fronts == 1 && !t.used {
		return only
	}
	return -1
}

func (t *trace) remove(i int) {
	t.anchors = append(t.anchors[:i:i], t.anchors[i+1:]...)
	t.used = true
}

// maxSteps bounds a chain of parents, which may be a circle.
const maxSteps = 16

// leads reports that the chain of parents goes from one span to another.
func (t *trace) leads(from, to spanID) bool {
	for range maxSteps {
		if from == to {
			return true
		}
		parent, ok := t.links[from]
		if !ok {
			return false
		}
		from = parent
	}
	return false
}

// belongs reports that a stored span is of a request.
func (t *trace) belongs(x *stored, s *span) bool {
	if t.leads(x.parent, s.id) {
		return true
	}
	for h := range t.halves {
		if t.leads(x.parent, h) {
			return true
		}
	}
	for i := range t.anchors {
		if y := &t.anchors[i]; y.engine == s.engine && y.id != s.id {
			return false
		}
	}
	_, known := t.links[x.parent]
	return !known && !t.used
}
