package truth

import (
	"slices"
	"strings"
	"time"

	"llmtop/probes"
)

// number reads one of an engine's numbers.
type number func(*probes.Engine) probes.Opt[float64]

// Who speaks for a side of a request where engines with different roles serve it together:
// the first roles of which one tells the reading.
var speaking = map[probes.Side][][]probes.Role{
	probes.Scheduler: {{probes.Whole, probes.Prefill, probes.Decode}, {probes.Frontend}},
	probes.Client:    {{probes.Frontend}, {probes.Whole, probes.Decode}, {probes.Prefill}},
	probes.Prompts:   {{probes.Whole, probes.Prefill}, {probes.Decode}, {probes.Frontend}},
	probes.Tokens:    {{probes.Whole, probes.Decode}, {probes.Prefill}, {probes.Frontend}},
}

// speakers are the engines whose readings add up to those of all. One that fell silent
// leaves its place to others.
func (v view) speakers(side probes.Side, tells func(*probes.Engine) bool) []*probes.Engine {
	engines := v.now().engines
	if len(engines) < 2 {
		return engines
	}
	told := func(e *probes.Engine) bool { return tells(e) || partsTell(e, tells) }
	out := speakersOf(engines, side, func(e *probes.Engine) bool { return v.stands(e.At) && told(e) })
	if len(out) == 0 {
		out = speakersOf(engines, side, told)
	}
	return out
}

// speakersOf goes through the services, which are the models.
func speakersOf(engines []*probes.Engine, side probes.Side, tells func(*probes.Engine) bool) (out []*probes.Engine) {
	for _, model := range models(engines) {
		for _, roles := range speaking[side] {
			var these []*probes.Engine
			for _, e := range engines {
				if modelOf(e, engines) == model && slices.Contains(roles, e.Role) {
					these = append(these, e)
				}
			}
			if slices.ContainsFunc(these, tells) {
				out = append(out, these...)
				break
			}
		}
	}
	return out
}

func models(engines []*probes.Engine) (out []string) {
	for _, e := range engines {
		if m := modelOf(e, engines); !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// modelOf is the model that an engine serves; who names none belongs to the only one there is.
func modelOf(e *probes.Engine, all []*probes.Engine) string {
	if e.Model != "" {
		return strings.ToLower(e.Model)
	}
	only := ""
	for _, other := range all {
		switch m := strings.ToLower(other.Model); {
		case m == "" || m == only:
		case only != "":
			return ""
		default:
			only = m
		}
	}
	return only
}

func partsTell(e *probes.Engine, tells func(*probes.Engine) bool) bool {
	return slices.ContainsFunc(e.Parts, tells)
}

// counters are engines whose counters go on by themselves: the parts of one endpoint, else it.
func counters(engines []*probes.Engine, tells func(*probes.Engine) bool) (out []*probes.Engine) {
	for _, e := range engines {
		if partsTell(e, tells) {
			out = append(out, e.Parts...)
		} else {
			out = append(out, e)
		}
	}
	return out
}

// sameIn finds an engine in another sample.
func sameIn(m *moment, e *probes.Engine) *probes.Engine {
	whole := engineAt(m, e.Endpoint)
	if whole == nil || e.Instance == "" {
		return whole
	}
	for _, part := range whole.Parts {
		if part.Instance == e.Instance {
			return part
		}
	}
	if whole.Only == e.Instance {
		return whole
	}
	return nil
}

func (of number) told(e *probes.Engine) bool { return of(e).Seen() }

// readingsOf are those of one engine over a span.
func (v view) readingsOf(e *probes.Engine, of number) []reading {
	return v.readings(func(m *moment) (reading, bool) {
		then := sameIn(m, e)
		if then == nil {
			return reading{}, false
		}
		x, ok := of(then).Get()
		return reading{then.At, x}, ok
	})
}

// gained is what a counter gained at all engines over the newest samples of span, and the
// longest stretch that its readings cover.
func (v view) gained(span view, side probes.Side, of number) (sum, seconds float64, ok bool) {
	for _, e := range counters(v.speakers(side, of.told), of.told) {
		if g, s, told := growth(span.readingsOf(e, of)); told {
			sum, seconds, ok = sum+g, max(seconds, s), true
		}
	}
	return sum, seconds, ok
}

func (v view) engineRate(side probes.Side, of number) (float64, bool) {
	gained, seconds, ok := v.gained(v.last(nowSpan), side, of)
	return gained / max(seconds, 1e-9), ok && seconds > 0
}

// frozen reports gauges that stand still with the engines: sequences are said to run, none to
// wait, and no counter moved over the now span (the wide one where they move at a request's
// end). What they say is then not what is.
func (v view) frozen() bool {
	run, wait, span, least := 0.0, 0.0, v.last(nowSpan), frozenLeast.Seconds()
	for _, e := range v.now().engines {
		run, wait = run+e.Running.Or(0), wait+e.Waiting.Or(0)
		if e.AtFinish {
			span, least = v.last(wideSpan), wideSpan.Seconds()*2/3
		}
	}
	if run == 0 || wait > 0 || len(span) < frozenTicks {
		return false
	}
	for i, c := range []struct {
		side probes.Side
		of   number
	}{{probes.Tokens, tokensOut}, {probes.Prompts, tokensIn}, {probes.Client, finished}} {
		came, seconds, ok := v.gained(span, c.side, c.of)
		if !ok || came > 0 || seconds < frozenLeast.Seconds() || i == 0 && seconds < least {
			return false
		}
	}
	return true
}

// What it takes to call gauges frozen.
const (
	frozenTicks = 6
	frozenLeast = 3 * time.Second
)

// gauge joins what the engines tell now.
func (v view) gauge(side probes.Side, of number, join func(a, b float64) float64) (out float64, ok bool) {
	if v.measure().frozen {
		return 0, false
	}
	for _, e := range v.speakers(side, of.told) {
		x, told := of(e).Get()
		switch {
		case !told || !v.stands(e.At):
		case ok:
			out = join(out, x)
		default:
			out, ok = x, true
		}
	}
	return out, ok
}

func sum(a, b float64) float64 { return a + b }

func larger(a, b float64) float64 { return max(a, b) }

// The readings that several formulas ask for.
var (
	running    number = func(e *probes.Engine) probes.Opt[float64] { return e.Running }
	waiting    number = func(e *probes.Engine) probes.Opt[float64] { return e.Waiting }
	kvUsage    number = func(e *probes.Engine) probes.Opt[float64] { return e.KVUsage }
	tokensOut  number = func(e *probes.Engine) probes.Opt[float64] { return e.GenerationTokens }
	tokensIn   number = func(e *probes.Engine) probes.Opt[float64] { return e.PromptTokens }
	finished   number = func(e *probes.Engine) probes.Opt[float64] { return e.Finished }
	failed     number = func(e *probes.Engine) probes.Opt[float64] { return e.Failed }
	rejected   number = func(e *probes.Engine) probes.Opt[float64] { return e.Rejected }
	preempted  number = func(e *probes.Engine) probes.Opt[float64] { return e.Preemptions }
	prefixHits number = func(e *probes.Engine) probes.Opt[float64] { return e.PrefixHits }
	computed   number = func(e *probes.Engine) probes.Opt[float64] { return e.PromptComputed }
	cached     number = func(e *probes.Engine) probes.Opt[float64] { return e.PromptCached }
	received   number = func(e *probes.Engine) probes.Opt[float64] { return e.PromptReceived }
	began      number = func(e *probes.Engine) probes.Opt[float64] { return e.StartUnixSecs }

	// bad is what failed, was given up or refused.
	bad number = func(e *probes.Engine) probes.Opt[float64] {
		if !e.Failed.Seen() && !e.Rejected.Seen() {
			return probes.Opt[float64]{}
		}
		return probes.Some(e.Failed.Or(0) + e.Rejected.Or(0))
	}
)
