package rules

import (
	"math"

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
	numMeasures
)

// entry is what one finished request tells of a measure.
type entry struct {
	value float64
	lag   float64 // seconds by which it came about before its section was read; always for no age at all
	of    *probes.Request
}

// always is the lag of what is told without an end: it counts as now.
var always = math.Inf(-1)

// digest is what a section tells of the requests that finished, worked out once: the
// section is looked at again at every tick of the wide span.
type digest struct {
	entries [numMeasures][]entry
	longest [numMeasures]float64 // lag
	gaveUp  []entry              // went without a first token; the value is a lower bound of their TTFT
	refused float64
	odd     bool // holds a value that is no number, or an entry without an age
}

func digestOf(s *probes.Requests) *digest {
	d := &digest{}
	room := make([]entry, len(s.Finished)*int(numMeasures))
	for m := range d.entries {
		d.entries[m], room = room[:0:len(s.Finished)], room[len(s.Finished):]
	}
	for _, r := range s.Finished {
		d.take(r, s.FinishedOnly)
	}
	return d
}

// take takes a request in. Of one that is all there is known of (partial) a missing TTFT
// does not mean that there was no first token: some engines do not tell it.
func (d *digest) take(r *probes.Request, partial bool) {
	if ttft, lag, ok := firstToken(r); ok {
		d.add(ofTTFT, ttft, lag, r)
	} else if v, ok := waited(r); ok && !partial {
		d.gaveUp = append(d.gaveUp, entry{v, endLag(r), r})
	}
	if v, ok := r.TPOTSeconds(); ok {
		d.add(ofTPOT, v, 0, r)
	}
	if v, ok := r.E2ESeconds.Get(); ok && r.Finish != "rejected" {
		d.add(ofE2E, v, 0, r)
	}
	if r.PromptTokens > 0 { // 0 was refused before it was tokenized
		d.add(ofPrompt, float64(r.PromptTokens), endLag(r), r)
	}
	if r.OutputTokens > 0 {
		d.add(ofOutput, float64(r.OutputTokens), 0, r)
	}
	if r.Finish == "rejected" {
		d.refused++
	}
}

func (d *digest) add(m measure, v, lag float64, r *probes.Request) {
	d.entries[m] = append(d.entries[m], entry{v, lag, r})
	d.longest[m] = max(d.longest[m], lag)
	d.odd = d.odd || math.IsNaN(v) || lag == always
}

// endLag is the lag of a request's end: none, or always where no end is told.
func endLag(r *probes.Request) float64 {
	if r.Finish == "" && r.State != "finished" {
		return always
	}
	return 0
}

// firstToken says whether the first token was written, and how long before the
// request ended or was looked at.
func firstToken(r *probes.Request) (ttft, lag float64, ok bool) {
	ttft, ok = r.TTFTSeconds.Get()
	if !ok {
		return 0, 0, false
	}
	return ttft, max(0, r.E2ESeconds.Or(age(r))-ttft), true
}

// waited is a request without its first token, in flight or given up by its
// client: its age is a lower bound of its TTFT. A refused one never waited.
func waited(r *probes.Request) (seconds float64, ok bool) {
	if r.TTFTSeconds.Seen() || r.Finish == "rejected" || r.Finish == "error" {
		return 0, false
	}
	return age(r), true
}

// age is how long a request has been with the engine, by the engine's own stamps.
func age(r *probes.Request) float64 {
	total := 0.0
	for _, s := range r.Stages {
		total += s
	}
	return total
}
