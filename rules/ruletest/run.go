package ruletest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmtop/rules"
)

// verbs are what can be said after "at TIME", with how many words follow.
var verbs = map[string]int{
	"top": 1, "named": 1, "not": 1, "effect": 1, "risk": 1, "note": 1, "symptom": 1, "baseline": 1,
	"healthy": 0, "degraded": 0, "unknown": 0, "unmeasurable": 0, "nothing": 0, "signal": 3,
}

// Run plays the script against the book. name stands in the errors, which give
// file, line, what was expected and what was diagnosed; all failures are reported.
func Run(r io.Reader, name string, book *rules.Book) error {
	s, err := parse(r, name)
	if err != nil {
		return err
	}
	w, d := newWorld(s), rules.NewDiagnoser(book, rules.Options{})
	var errs []error
	var tick *rules.Tick
	named := map[string]time.Duration{}
	for _, c := range s.checks {
		for tick == nil || time.Duration(w.step)*s.every <= c.at {
			at := time.Duration(w.step) * s.every
			tick = d.Observe(w.next())
			for _, cause := range tick.Diagnosis.Causes {
				if _, ok := named[cause.ID]; !ok {
					named[cause.ID] = at
				}
			}
		}
		if err := c.verify(tick, named); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: at %s %s %s: %w", name, c.line, c.at, c.verb, strings.Join(c.args, " "), err))
		}
	}
	return errors.Join(errs...)
}

// verify checks one line against the tick.
func (c check) verify(t *rules.Tick, named map[string]time.Duration) error {
	d := t.Diagnosis
	causes := func(x rules.Cause) bool { return x.ID == c.args[0] }
	findings := func(f rules.Finding) bool { return f.ID == c.args[0] }
	ok := false
	switch c.verb {
	case "top":
		ok = len(d.Causes) > 0 && causes(d.Causes[0])
	case "named":
		ok = slices.ContainsFunc(d.Causes, causes)
	case "not":
		ok = !slices.ContainsFunc(d.Causes, causes)
	case "effect":
		ok = slices.ContainsFunc(d.Causes, func(x rules.Cause) bool { return slices.Contains(x.Effects, c.args[0]) })
	case "risk":
		ok = slices.ContainsFunc(d.Risks, findings)
	case "note":
		ok = slices.ContainsFunc(d.Notes, findings)
	case "symptom":
		ok = slices.ContainsFunc(d.Symptoms, func(s rules.Symptom) bool { return s.Signal == c.args[0] })
	case "nothing":
		if len(named) > 0 {
			return fmt.Errorf("named until then: %v", named)
		}
		ok = true
	case "baseline":
		kind := map[string]string{"window": "window", "lifetime": "the engine's life", "slo": "SLO"}[c.args[0]]
		ok = kind != "" && strings.HasPrefix(d.Baseline, kind)
	case "signal":
		return c.signal(t)
	default:
		ok = string(d.State) == c.verb
	}
	if !ok {
		return fmt.Errorf("diagnosed instead:\n%s", indent(rules.Report(d)))
	}
	return nil
}

// signal compares a signal with a number.
func (c check) signal(t *rules.Tick) error {
	limit, err := strconv.ParseFloat(c.args[2], 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", c.args[2])
	}
	v, ok := t.Signals.Get(c.args[0]).Get()
	if !ok {
		return fmt.Errorf("%s is missing: %s", c.args[0], t.Signals.Get(c.args[0]).Why())
	}
	holds := map[string]bool{"<": v < limit, "<=": v <= limit, ">": v > limit, ">=": v >= limit}[c.args[1]]
	if !holds {
		return fmt.Errorf("it is %g", v)
	}
	return nil
}

func indent(s string) string { return "\t" + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n\t") }
