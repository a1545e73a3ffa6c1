package requests

import (
	"encoding/json"
	"fmt"
	"time"

	"llmtop/probes"
)

// answer is the JSON of GET /debug/requests.
type answer struct {
	Engine   string     `json:"engine"`
	PID      int        `json:"pid"`
	Now      time.Time  `json:"now"`
	Next     uint64     `json:"next"` // what to ask after the next time
	Missed   int        `json:"missed"`
	InFlight int        `json:"in_flight"`
	Running  []*request `json:"running"`
	Finished []*request `json:"finished"`

	at time.Time // when it came
}

// request is a probes.Request whose stages are an object by stage name.
type request struct {
	probes.Request
	Stages map[string]float64 `json:"stages"`
}

// decode reads an answer; anything else is described in one line.
func decode(page *probes.Page, at time.Time) (*answer, error) {
	a := &answer{at: probes.Stamp(at)}
	if err := json.Unmarshal(page.Body, a); err != nil {
		if what := probes.Describe(page.ContentType, page.Body); what != "JSON" {
			return nil, fmt.Errorf("%s: found %s, not the JSON of requests", page.URL, what)
		}
		return nil, fmt.Errorf("%s: decoding requests: %s", page.URL, probes.Printable(err.Error(), 150))
	}
	if a.Now.IsZero() {
		a.Now = a.at
	}
	if a.Engine == "" && a.PID == 0 && a.Next == 0 && a.Running == nil && a.Finished == nil {
		return nil, fmt.Errorf("%s: found JSON that tells nothing of requests", page.URL)
	}
	return a, nil
}

// section is a section that is being put together.
type section struct{ *probes.Requests }

// section turns the first answer of a read into a section.
func (a *answer) section(endpoint string) section {
	s := section{&probes.Requests{At: a.at, Endpoint: endpoint, InFlight: max(0, a.InFlight, len(a.Running))}}
	s.Running = requests(a.Running[:min(len(a.Running), maxRunning)])
	s.add(a)
	return s
}

// add takes in what an answer says of finished requests.
func (s section) add(a *answer) {
	s.Missed += max(0, a.Missed)
	if over := len(a.Finished) - pageSize; over > 0 { // more than was asked for
		s.Missed += over
		a.Finished = a.Finished[over:]
	}
	s.Finished = append(s.Finished, requests(a.Finished)...)
}

func requests(wire []*request) []*probes.Request {
	if len(wire) == 0 {
		return nil
	}
	out := make([]*probes.Request, 0, len(wire))
	for _, w := range wire {
		if w != nil {
			out = append(out, w.clean())
		}
	}
	return out
}

// clean gives the request its stages and takes out of it what cannot be:
// control bytes, negative counts and times.
func (w *request) clean() *probes.Request {
	r := w.Request
	for stage, name := range probes.StageNames {
		r.Stages[stage] = max(0, w.Stages[name])
	}
	r.ID, r.Class = probes.Printable(r.ID, 64), probes.Printable(r.Class, 64)
	r.State, r.Finish = probes.Printable(r.State, 32), probes.Printable(r.Finish, 32)
	r.Arrived = probes.Stamp(r.Arrived)
	for _, n := range []*int{&r.PromptBytes, &r.PromptTokens, &r.CachedTokens, &r.OutputTokens, &r.Preemptions} {
		*n = max(0, *n)
	}
	for _, s := range []*float64{&r.DetokenizeBusySeconds, &r.SendBusySeconds, &r.PreemptedSeconds} {
		*s = max(0, *s)
	}
	for _, o := range []*probes.Opt[float64]{&r.TTFTSeconds, &r.E2ESeconds, &r.MaxITLSeconds} {
		if o.Or(0) < 0 {
			*o = probes.Opt[float64]{}
		}
	}
	return &r
}

func total(s *probes.StageSeconds) (sum float64) {
	for _, v := range s {
		sum += v
	}
	return sum
}
