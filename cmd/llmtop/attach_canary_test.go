package main

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"llmtop/engine"
	"llmtop/probes"
)

func TestCanaryFlag(t *testing.T) {
	for text, want := range map[string]time.Duration{"1s": time.Second, "10s": 10 * time.Second, "0": 0, "24h": 24 * time.Hour} {
		var p canaryPace
		if err := p.Set(text); err != nil || time.Duration(p) != want {
			t.Errorf("%s: %s, %v", text, time.Duration(p), err)
		}
	}
	for _, text := range []string{"999ms", "-10s", "25h", "10", "often", ""} {
		var p canaryPace
		if err := p.Set(text); err == nil {
			t.Errorf("%q is taken for %s", text, p.String())
		}
	}
	for _, command := range []string{"", "record", "diagnose"} {
		cmd, _, err := newRoot().Find([]string{command})
		if err != nil || cmd.Flags().Lookup("canary") == nil {
			t.Errorf("llmtop %s has no --canary: %v", command, err)
		}
	}
}

// TestAttachedEngine: an engine is asked for its configuration, and with --canary gets canaries.
func TestAttachedEngine(t *testing.T) {
	e, err := engine.New(engine.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()
	defer func() {
		stop()
		<-over
	}()
	s := httptest.NewServer(e.Handler())
	defer s.Close()
	for _, pace := range []time.Duration{0, time.Second} {
		c := attach(attachOptions{urls: []string{s.URL}, interval: 100 * time.Millisecond, canary: pace})
		var last *probes.Sample
		for range 100 { // 10 s
			if last, err = c.Next(context.Background()); err != nil {
				t.Fatal(err)
			}
			if len(last.Configs) > 0 && (pace == 0 || len(last.Canaries) > 0 && last.Canaries[0].TTFTSeconds.Seen()) {
				break
			}
		}
		c.Close()
		if len(last.Configs) != 1 || last.Configs[0].Version == "" || last.Configs[0].Fact("model") != "oncall" || last.Configs[0].Dialect != "vllm" {
			t.Errorf("configuration %+v", last.Configs)
		}
		if (len(last.Canaries) == 1) != (pace > 0) {
			t.Errorf("pace %s: canaries %+v", pace, last.Canaries)
		}
	}
}
