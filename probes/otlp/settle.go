package otlp

import (
	"maps"
	"time"

	"llmtop/probes"
)

// settle looks at the requests of a trace whose time has come: Dynamo's first, as they
// take the engines' along.
func (a *assembler) settle(t *trace, now time.Time) {
	due := func(x *anchor) bool { return !now.Before(x.due) }
	for i := 0; i < len(t.anchors); i++ {
		if x := t.anchors[i]; x.engine == dynamo && due(&x) {
			a.front(t, i)
			i = -1 // the list changed
		}
	}
	for i := 0; i < len(t.anchors); i++ {
		if x := t.anchors[i]; x.engine != dynamo && due(&x) && t.frontOf(&x) < 0 {
			d := build(&x.span, x.service, a.below(t, &x.span))
			t.remove(i)
			a.recent.add(seen{trace: t.id}) // should Dynamo's span of it still come
			a.put(d)
			i--
		}
	}
}

// front makes one request of Dynamo's span and those of the engines behind it.
func (a *assembler) front(t *trace, i int) {
	x := t.anchors[i]
	var engines []*probes.Request
	var why fault
	var rest []anchor
	for j := range t.anchors {
		y := &t.anchors[j]
		if j == i {
			continue
		}
		if y.engine == dynamo || t.frontOf(y) != i {
			rest = append(rest, *y)
			continue
		}
		d := build(&y.span, y.service, a.below(t, &y.span))
		if d.fault != "" {
			why = d.fault
		} else {
			engines = append(engines, d.request)
		}
	}
	own := a.below(t, &x.span)
	t.anchors, t.used = rest, true
	d := done{service: x.service}
	switch {
	case len(engines) > 0:
		d.request, d.fault = inside(&x.span, own, engines)
	case why != "":
		d.fault = why
	case a.recent.has(seen{trace: t.id}):
		return // the engine's own span was looked at before
	default:
		d.request, d.fault = dynamoRequest(&x.span, own)
	}
	a.put(d)
}

// below takes the spans of stages that belong to a request out of its trace. Where a span
// between is missing they are those of the only request there is; those of a half go
// with the request.
func (a *assembler) below(t *trace, s *span) []stored {
	var out []stored
	maps.DeleteFunc(t.stages, func(_ storedKey, x *stored) bool {
		if x.engine != s.engine || !t.belongs(x, s) {
			return false
		}
		out = append(out, *x)
		a.stored--
		return true
	})
	return out
}

// build reads a request off its span and those below it.
func build(s *span, by *service, below []stored) done {
	d := done{service: by}
	switch s.engine {
	case vllm:
		d.request, d.fault = vllmRequest(s)
	case tgi:
		d.request, d.fault = tgiRequest(s)
	case sglang:
		d.request, d.fault = sglangRequest(s, below)
	default:
		d.request, d.fault = dynamoRequest(s, below)
	}
	return d
}
