package ruletest

import (
	"bytes"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"llmtop/probes"
)

// frameOf are functions that stand for a purpose in a profile.
var frameOf = map[string]string{
	"profile.tokenize": "llmtop/engine/tokenizer.(*Tokenizer).Encode",
	"profile.model":    "llmtop/engine/model.(*Model).Forward",
}

// profile gives the sample a CPU profile every 15 s, with the shares the script
// says; what is left is the program's own.
func (w *world) profile(s *probes.Sample) {
	if w.profiled == nil || s.At.Sub(w.profiled.At) >= 15*time.Second {
		w.profiled = &probes.Profile{At: s.At, Endpoint: "http://engine", Seconds: 5, Raw: w.cpuProfile()}
	}
	s.Profile = w.profiled
}

func (w *world) cpuProfile() []byte {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7}
	left := 1.0
	add := func(function string, share float64) {
		id := uint64(len(p.Function) + 1)
		f := &profile.Function{ID: id, Name: function}
		l := &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{int64(share * 1000)}})
	}
	for _, name := range seriesNames() {
		if strings.HasPrefix(name, "profile.") {
			add(frameOf[name], w.at(name))
			left -= w.at(name)
		}
	}
	add("main.main", max(0, left))
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return nil // cannot happen on a buffer; no profile then
	}
	return b.Bytes()
}
