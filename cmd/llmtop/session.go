package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

// session is the flow in one place: a source of samples, folded into ticks, and
// kept in a recording when one is wanted. Live, headless and replay all run it.
type session struct {
	source    probes.Source
	diagnoser *rules.Diagnoser
	recorder  *record.Writer // nil: not recording
	ring      *incidents     // nil: the past is not kept
	facts     *learner       // for what is kept; nil until then
	verdict   string         // the last one recorded

	show func(*rules.Tick) *rules.Tick // what of a tick is to be seen; nil: all
}

func newSession(source probes.Source) (*session, error) {
	book, err := rules.DefaultBook()
	if err != nil {
		return nil, fmt.Errorf("loading the rule book: %w", err)
	}
	return &session{source: source, diagnoser: rules.NewDiagnoser(book, rules.Options{})}, nil
}

// next waits for the next sample and returns what it means. Recording it never
// fails the session: a full disk is the recorder's state, shown on screen.
func (s *session) next(ctx context.Context) (*rules.Tick, error) {
	sample, err := s.source.Next(ctx)
	if err != nil {
		return nil, err
	}
	tick := s.diagnoser.Observe(sample)
	if s.recorder != nil || s.ring != nil {
		s.keep(sample, tick)
	}
	if s.show != nil {
		tick = s.show(tick)
	}
	return tick, nil
}

func (s *session) keep(sample *probes.Sample, tick *rules.Tick) {
	findings := s.findings(tick)
	if s.recorder != nil {
		s.recorder.Write(sample, findings...) // its error stays in recorder.Err
	}
	if s.ring != nil {
		s.ring.observe(sample, &tick.Diagnosis, findings)
	}
	if s.facts == nil {
		s.facts = newLearner(s.know)
	}
	s.facts.observe(tick)
}

// know adds to what the recording says of itself; with a full queue it is not said.
func (s *session) know(facts map[string]string) {
	if len(facts) == 0 {
		return
	}
	if s.recorder != nil {
		s.recorder.Facts(facts)
	}
	if s.ring != nil {
		s.ring.ring.Facts(facts)
	}
}

// findings are what the recording keeps of a tick's diagnosis: each change of the verdict.
func (s *session) findings(tick *rules.Tick) []*record.Finding {
	d := &tick.Diagnosis
	verdict := verdictKey(d)
	if verdict == s.verdict {
		return nil
	}
	s.verdict = verdict
	body, err := json.Marshal(d)
	if err != nil {
		return nil // a Diagnosis holds nothing that JSON cannot
	}
	return []*record.Finding{{At: d.Time, State: string(d.State), Cause: topCause(d), Line: headline(d), Detail: body}}
}

// verdictKey is equal for two diagnoses that say the same: state and causes in order.
func verdictKey(d *rules.Diagnosis) string {
	key := string(d.State)
	for _, c := range d.Causes {
		key += " " + c.ID
	}
	return key
}

// headline is the first line of the report: the verdict.
func headline(d *rules.Diagnosis) string {
	line, _, _ := strings.Cut(rules.Report(*d), "\n")
	return line
}

func topCause(d *rules.Diagnosis) string {
	if len(d.Causes) == 0 {
		return ""
	}
	return d.Causes[0].ID
}

// exitCode is the exit status that a verdict means.
func exitCode(s rules.State) int {
	switch s {
	case rules.Healthy:
		return exitOK
	case rules.Degraded:
		return exitDegraded
	case rules.Unknown:
		return exitUnknown
	}
	return exitUnmeasurable
}
