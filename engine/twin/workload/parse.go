package workload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"llmtop/engine/twin/knob"
)

// option is something that a stream may state, as in "chat rate=12 output=300".
type option struct {
	name  string
	takes string
	doc   string
	set   func(*Stream, string) error
}

// options are all of them.
var options = []option{
	{"rate", "requests per second", "mean rate of this workload", func(s *Stream, v string) error { return rate(&s.Rate, v) }},
	{"share", "0 to 1", "its part of the statement rate, in place of a rate of its own", func(s *Stream, v string) error { return number(&s.Share, v, 1e-6, 1) }},
	{"arrivals", "poisson, constant, gamma:CV, bursty:FACTOR,EVERY,FOR, diurnal:SWING,HOUR; A+B", "when they come", func(s *Stream, v string) (err error) {
		s.Arrivals, err = ParseArrivals(v)
		return err
	}},
	{"prompt", "lengths", "what is new in each prompt: what it shares comes before", func(s *Stream, v string) error { return length(&s.Prompt, v) }},
	{"output", "lengths", "answers", func(s *Stream, v string) error { return length(&s.Output, v) }},
	{"prefix", "none", "prompts share nothing", func(s *Stream, v string) error {
		if v != "none" {
			return errors.New(`takes none; what is shared is said by systems, documents, turns`)
		}
		s.Prefixes = Prefixes{}
		return nil
	}},
	{"systems", "0 to 1000000", "different system prompts", func(s *Stream, v string) error { return count(&s.Prefixes.Systems, v) }},
	{"system", "lengths", "of each system prompt", func(s *Stream, v string) error { return length(&s.Prefixes.System, v) }},
	{"documents", "0 to 1000000", "different documents that follow them", func(s *Stream, v string) error { return count(&s.Prefixes.Documents, v) }},
	{"document", "lengths", "of each document", func(s *Stream, v string) error { return length(&s.Prefixes.Document, v) }},
	{"zipf", "0 to 3", "popularity of system prompts and documents: weights rank^-ZIPF", func(s *Stream, v string) error { return number(&s.Prefixes.Zipf, v, 0, 3) }},
	{"turns", "1 to 1000", "of a conversation, mean; 1: no conversations", func(s *Stream, v string) error { return number(&s.Prefixes.Turns, v, 1, 1000) }},
	{"think", "0.1 to 3600", "seconds between two turns, mean", func(s *Stream, v string) error {
		return number(&s.Prefixes.Think, strings.TrimSuffix(v, "s"), 0.1, 3600)
	}},
	{"realtime", "0 to 1", "share of class realtime", func(s *Stream, v string) error { return share(&s.Realtime, v) }},
	{"background", "0 to 1", "share of class background", func(s *Stream, v string) error { return share(&s.Background, v) }},
	{"stream", "0 to 1", "share of answers that are streamed", func(s *Stream, v string) error { return share(&s.Streamed, v) }},
	{"adapters", "0 to 1000000", "LoRA adapters that are asked for", func(s *Stream, v string) error { return count(&s.Adapters, v) }},
	{"guided", "0 to 1", "share of answers with a grammar", func(s *Stream, v string) error { return share(&s.Guided, v) }},
	{"schemas", "0 to 1000000", "different grammars", func(s *Stream, v string) error { return count(&s.Schemas, v) }},
	{"images", "0 to 1", "share of requests with an image", func(s *Stream, v string) error { return share(&s.Images, v) }},
	{"slow", "0 to 1", "share of clients that read slowly", func(s *Stream, v string) error { return share(&s.Slow, v) }},
	{"bytes", "0.5 to 20", "of text for each token of a prompt", func(s *Stream, v string) error { return number(&s.Bytes, v, 0.5, 20) }},
}

// Option is what a stream may state, for documents.
type Option struct{ Name, Takes, Doc string }

// Options are all of them, in the order of the documents.
func Options() []Option {
	all := make([]Option, len(options))
	for i, o := range options {
		all[i] = Option{o.name, o.takes, o.doc}
	}
	return all
}

// ParseStream reads a kind and what is different from it: "chat rate=12 output=lognormal:300,900".
func ParseStream(text string) (Stream, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Stream{}, errors.New("which workload? write for example chat rate=12")
	}
	s, err := NewStream(words[0])
	if err != nil {
		return s, err
	}
	seen := map[string]bool{}
	for _, w := range words[1:] {
		name, value, ok := strings.Cut(w, "=")
		if !ok || value == "" {
			return s, fmt.Errorf("%.60q: write NAME=VALUE, as in rate=12", w)
		}
		if seen[name] {
			return s, fmt.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if err := s.set(name, value); err != nil {
			return s, err
		}
	}
	if seen["rate"] && seen["share"] {
		return s, errors.New("rate and share exclude each other: share is a part of the statement rate")
	}
	return s, s.consistent()
}

func (s *Stream) set(name, value string) error {
	names := make([]string, len(options))
	for i, o := range options {
		if names[i] = o.name; o.name != name {
			continue
		}
		if err := o.set(s, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	return knob.Unknown("option of workload", name, names)
}

// consistent says what does not go together, and fills in what a prefix lacks.
func (s *Stream) consistent() error {
	p := &s.Prefixes
	switch {
	case s.Realtime+s.Background > 1:
		return fmt.Errorf("realtime=%g and background=%g are more than all", s.Realtime, s.Background)
	case p.Systems > 0 && p.System.Shape == "":
		return errors.New("systems: how long are they? add system=lognormal:300,800")
	case p.Documents > 0 && p.Document.Shape == "":
		return errors.New("documents: how long are they? add document=lognormal:1000,2500")
	case p.Turns > 1 && p.Think == 0:
		return errors.New("turns: how long do people think between them? add think=30s")
	}
	return nil
}

func length(to *Length, v string) (err error) {
	*to, err = ParseLength(v)
	return err
}

// rate is above 0: a workload that never comes is left out.
func rate(to *float64, v string) error {
	f, err := strconv.ParseFloat(strings.TrimSuffix(v, "/s"), 64)
	if err != nil || !(f > 0 && f <= MaxRate) {
		return fmt.Errorf("must be above 0 and at most %d requests per second, not %.40q", MaxRate, v)
	}
	*to = f
	return nil
}

// ParseRate reads a rate as the option does.
func ParseRate(v string) (f float64, err error) {
	err = rate(&f, v)
	return f, err
}

func number(to *float64, v string, low, high float64) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f >= low && f <= high) {
		return fmt.Errorf("takes %g to %g, not %.40q", low, high, v)
	}
	*to = f
	return nil
}

// share may be in percent.
func share(to *float64, v string) error {
	if p, ok := strings.CutSuffix(v, "%"); ok {
		err := number(to, p, 0, 100)
		*to /= 100
		return err
	}
	return number(to, v, 0, 1)
}

func count(to *int, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > maxKinds {
		return fmt.Errorf("takes whole numbers from 0 to %d, not %.40q", maxKinds, v)
	}
	*to = n
	return nil
}
