package main

import (
	"context"
	"errors"
	"io"
	"testing"

	"llmtop/probes"
)

// turns is a scrape probe that gives one section after the other.
type turns struct {
	sections []probes.Section
	closed   bool
}

func (t *turns) Name() string { return "scrape http://e" }

func (t *turns) Close() error {
	t.closed = true
	return nil
}

func (t *turns) Read(context.Context) (probes.Section, error) {
	if len(t.sections) == 0 {
		return nil, errors.New("gone")
	}
	s := t.sections[0]
	t.sections = t.sections[1:]
	return s, nil
}

// TestSighting: what the metrics tell in passing: the dialect, and restarts.
func TestSighting(t *testing.T) {
	schema := &probes.Schema{Series: []probes.Series{
		{Family: "vllm:prompt_tokens_total", Name: "vllm:prompt_tokens_total", Type: probes.Counter},
		{Family: "process_start_time_seconds", Name: "process_start_time_seconds", Type: probes.Gauge},
	}}
	other := &probes.Schema{Series: []probes.Series{{Family: "go_info", Name: "go_info", Type: probes.Gauge}}}
	page := func(s *probes.Schema, values ...float64) *probes.Scrape {
		return &probes.Scrape{Endpoint: "http://e", Schema: s, Values: values}
	}
	var seen passing
	inner := &turns{sections: []probes.Section{page(other, 1), page(schema, 10, 1000), page(schema, 20, 1000), page(schema, 1, 2000), page(schema, 2, 2000)}}
	p := seen.over(inner)
	for i, want := range []struct {
		dialect  string
		restarts int64
	}{{"", 0}, {"vllm", 0}, {"vllm", 0}, {"vllm", 1}, {"vllm", 1}, {"vllm", 1}} {
		section, err := p.Read(context.Background())
		if (section == nil) != (err != nil) || seen.dialect() != want.dialect || seen.restarts.Load() != want.restarts {
			t.Errorf("read %d: %v, %v; %q, %d restarts", i, section, err, seen.dialect(), seen.restarts.Load())
		}
	}
	if p.(io.Closer).Close(); !inner.closed || p.Name() != inner.Name() {
		t.Error("the scrape probe is not closed, or has another name")
	}
}
