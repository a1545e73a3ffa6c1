package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
	"llmtop/rules/ruletest"
)

// TestReplayIsLive records every case of the rule book, reads it back, and holds the
// diagnoses of the recording against those of the live samples, tick for tick.
func TestReplayIsLive(t *testing.T) {
	cases, err := filepath.Glob("../../rules/ruletest/cases/*.rules")
	if err != nil || len(cases) < 9 {
		t.Fatalf("%d cases found, %v", len(cases), err)
	}
	for _, path := range cases {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			compareReplay(t, caseSamples(t, path))
		})
	}
}

func caseSamples(t *testing.T, path string) []*probes.Sample {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	samples, err := ruletest.Samples(f, path)
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

func compareReplay(t *testing.T, samples []*probes.Sample) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.llmrec")
	w, err := record.Create(path, manifest(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	live := fold(t)
	var want [][]byte
	for _, s := range samples {
		want = append(want, encode(t, live.Observe(s)))
		for errors.Is(w.Write(s), record.ErrDropped) {
			w.Flush()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	replayed := fold(t)
	for i := range want {
		s, err := r.Next(t.Context())
		if err != nil {
			t.Fatalf("sample %d: %v", i, err)
		}
		if got := encode(t, replayed.Observe(s)); !bytes.Equal(got, want[i]) {
			t.Fatalf("sample %d:\nreplayed %s\nlive     %s", i, got, want[i])
		}
	}
	if _, err := r.Next(t.Context()); err != io.EOF {
		t.Errorf("after the last sample: %v, want io.EOF", err)
	}
}

func fold(t *testing.T) *rules.Diagnoser {
	t.Helper()
	book, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	return rules.NewDiagnoser(book, rules.Options{})
}

func encode(t *testing.T, tick *rules.Tick) []byte {
	t.Helper()
	b, err := json.Marshal(struct {
		Diagnosis rules.Diagnosis
		Signals   rules.Signals
	}{tick.Diagnosis, tick.Signals})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
