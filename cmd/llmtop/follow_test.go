package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/panes"
	"llmtop/probes"
	"llmtop/probes/record"
)

// TestFollowGrows reads a recording while it is written: what is there, what comes, its end.
func TestFollowGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.llmrec")
	w, err := record.Create(path, manifest(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	write := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			s := &probes.Sample{Seq: uint64(i + 1), At: morning.Add(time.Duration(i) * time.Second), Interval: time.Second}
			if err := w.Write(s); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(0, 20)
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSession(r)
	if err != nil {
		t.Fatal(err)
	}
	past := &history{}
	f := &follower{session: s, reader: r, viewer: newViewer(past, panes.Frame{}, true), past: past, name: "a.llmrec"}
	ctx, cancel := context.WithCancel(t.Context())
	arrivals, ended := make(chan func()), make(chan struct{})
	go func() { defer close(ended); f.feed(ctx, arrivals) }()
	t.Cleanup(func() { cancel(); <-ended; r.Close() })
	until := func(n int) {
		t.Helper()
		for past.last() < n-1 {
			arrive, ok := <-arrivals
			if !ok {
				t.Fatalf("ended at %d: %s", past.last(), f.viewer.catching)
			}
			arrive()
		}
	}
	until(10)
	if !strings.Contains(f.viewer.catching, "reading the recording … 50 %") {
		t.Errorf("says %q", f.viewer.catching)
	}
	until(20)
	if f.viewer.catching != "" {
		t.Errorf("at the end it says %q", f.viewer.catching)
	}
	for _, text := range []string{"early", "late"} { // while it is written: they wait beside it
		if _, err := record.AddMark(path, morning.Add(time.Duration(len(text))*time.Second), text); err != nil {
			t.Fatal(err)
		}
	}
	write(20, 40)
	until(40)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for arrive := range arrivals {
		arrive()
	}
	if marks := f.viewer.marks; len(marks) != 2 || marks[0].Text != "late" || !strings.HasPrefix(f.viewer.said, "mark: ") {
		t.Errorf("marks %v, said %q", marks, f.viewer.said)
	}
	if !strings.Contains(f.viewer.catching, "closed") {
		t.Errorf("after the end it says %q", f.viewer.catching)
	}
	if start, end := past.ends(); !start.Equal(morning) || !end.Equal(morning.Add(39*time.Second)) {
		t.Errorf("from %s to %s", start, end)
	}
}
