package truth

import (
	"math"
	"slices"

	"llmtop/probes"
)

// measure is a number that a request tells.
type measure int

const (
	ofTTFT measure = iota
	ofTPOT
	ofE2E
	ofPrompt
	ofOutput
)

// observation is one request in a set: its value and how long ago it came about.
type observation struct {
	value, ago float64
	waits      bool // it has no first token: the value is its age
	of         *probes.Request
}

// section is what one engine told at one time, and how long ago.
type section struct {
	*probes.Requests
	ago float64
}

// told are the sections of the newest sample that stand, one an endpoint.
func (v view) told() (out []section) {
	for _, s := range v.sectionsOf(v.now()) {
		if age := v.now().At.Sub(s.At); v.stands(s.At) || s.FinishedOnly && age <= wideSpan {
			out = append(out, section{s, age.Seconds()})
		}
	}
	return out
}

// sectionsOf leaves out traces of what is not looked at.
func (v view) sectionsOf(m *moment) (out []*probes.Requests) {
	for _, s := range m.Requests {
		foreign := s.FinishedOnly && len(v.now().engines) > 0 && engineAt(v.now(), s.Endpoint) == nil
		twice := slices.ContainsFunc(out, func(o *probes.Requests) bool { return o.Endpoint == s.Endpoint })
		if !foreign && !twice {
			out = append(out, s)
		}
	}
	return out
}

// ended are the sections of the wide span, each once.
func (v view) ended() (out []section) {
	from := v.now().At.Add(-wideSpan)
	newest := map[string]*probes.Requests{}
	for _, m := range v.last(wideSpan) {
		for _, s := range v.sectionsOf(m) {
			if last := newest[s.Endpoint]; !s.At.After(from) || last != nil && !s.At.After(last.At) {
				continue
			}
			newest[s.Endpoint] = s
			out = append(out, section{s, v.now().At.Sub(s.At).Seconds()})
		}
	}
	return out
}

// exact reports that every engine tells of its requests, and whole that those in flight are
// among them.
func (v view) exact() (exact, whole bool) {
	told := v.told()
	if len(told) == 0 {
		return false, false
	}
	whole = true
	for _, s := range told {
		whole = whole && !s.FinishedOnly
	}
	for _, e := range v.now().engines {
		tells := false
		for _, m := range v.last(wideSpan) {
			for _, s := range m.Requests {
				stands := v.stands(s.At) || v.now().At.Sub(s.At) <= wideSpan
				tells = tells || s.Endpoint == e.Endpoint && (!s.FinishedOnly || stands)
			}
		}
		if !tells {
			return false, false
		}
	}
	return true, whole
}

// observed are the requests behind a measure over so many seconds: those that ended, those in
// flight as far as they tell it, and of TTFT those that wait for longer than 95 % of the
// others had to, or gave up so late. A first token is as old as the section in which its
// request ended, and the time from that token to its end.
func (m *measured) observed(of measure, seconds float64) []observation {
	var out, waits []observation
	for _, s := range m.ended {
		for _, r := range s.Finished {
			o, ok := endedTells(of, r)
			o.ago += s.ago
			if of == ofPrompt && r.Finish == "" && r.State != "finished" {
				o.ago = 0
			}
			if ok && o.ago <= seconds {
				out = append(out, o)
			}
			if age, ok := waitedFor(r); ok && !s.FinishedOnly && s.ago <= seconds {
				waits = append(waits, observation{age, s.ago, true, r})
			}
		}
	}
	for _, s := range m.told {
		for _, r := range s.Running {
			if o, ok := flyingTells(of, r, s.ago); ok && o.ago <= seconds {
				out = append(out, o)
			}
			if age, ok := waitedFor(r); ok {
				waits = append(waits, observation{age, 0, true, r})
			}
		}
	}
	if of != ofTTFT {
		return out
	}
	p95, _ := nearestRank(valuesOf(out), 0.95)
	for _, w := range waits {
		if w.value > p95 {
			out = append(out, w)
		}
	}
	return out
}

// endedTells is what a request that ended tells; ago is before its section.
func endedTells(of measure, r *probes.Request) (observation, bool) {
	switch of {
	case ofTTFT:
		return firstToken(r)
	case ofTPOT:
		v, ok := r.TPOTSeconds()
		return observation{value: v, of: r}, ok
	case ofE2E:
		v, ok := r.E2ESeconds.Get()
		return observation{value: v, of: r}, ok && r.Finish != "rejected"
	case ofPrompt:
		return observation{value: float64(r.PromptTokens), of: r}, r.PromptTokens > 0
	}
	return observation{value: float64(r.OutputTokens), of: r}, r.OutputTokens > 0
}

// flyingTells is what a request in flight tells, in a section read so long ago.
func flyingTells(of measure, r *probes.Request, ago float64) (observation, bool) {
	switch of {
	case ofTTFT:
		o, ok := firstToken(r)
		o.ago += ago
		return o, ok
	case ofTPOT:
		v, ok := r.TPOTSeconds()
		return observation{value: v, of: r}, ok && r.OutputTokens >= enough
	case ofPrompt:
		return observation{value: float64(r.PromptTokens), of: r}, r.PromptTokens > 0
	}
	return observation{}, false
}

func firstToken(r *probes.Request) (observation, bool) {
	ttft, ok := r.TTFTSeconds.Get()
	return observation{value: ttft, ago: math.Max(0, r.E2ESeconds.Or(ageOf(r))-ttft), of: r}, ok
}

// waitedFor is the age of a request without a first token; one that was refused never waited.
func waitedFor(r *probes.Request) (float64, bool) {
	return ageOf(r), !r.TTFTSeconds.Seen() && r.Finish != "rejected" && r.Finish != "error"
}

func ageOf(r *probes.Request) (age float64) {
	for _, s := range r.Stages {
		age += s
	}
	return age
}

func valuesOf(all []observation) []float64 {
	out := make([]float64, len(all))
	for i, o := range all {
		out[i] = o.value
	}
	slices.Sort(out)
	return out
}

// nearestRank is a quantile of ascending values.
func nearestRank(values []float64, q float64) (float64, bool) {
	if len(values) == 0 {
		return 0, false
	}
	return values[max(0, int(math.Ceil(q*float64(len(values))))-1)], true
}
