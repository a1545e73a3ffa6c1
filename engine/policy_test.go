package engine

import (
	"testing"
	"time"
)

// A dynamic batch begins when it is full or its first has waited long enough, and
// nobody joins it.
func TestDynamicPolicy(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 3, MaxBatchedTokens: 100, Policy: Dynamic, BatchWait: 50 * time.Millisecond}, 100, 4)
	w.add(t, 3, 4)
	if step := w.step(t); len(step.Items) != 0 || step.Wait != 50*time.Millisecond {
		t.Fatalf("%d items, wait %s", len(step.Items), step.Wait)
	}
	w.now = w.now.Add(30 * time.Millisecond)
	w.add(t, 3, 4)
	if step := w.step(t); len(step.Items) != 0 || step.Wait != 20*time.Millisecond {
		t.Fatalf("%d items, wait %s", len(step.Items), step.Wait)
	}
	w.now = w.now.Add(20 * time.Millisecond)
	if step := w.step(t); len(step.Admitted) != 2 {
		t.Fatalf("admitted %d", len(step.Admitted))
	}
	late := w.add(t, 3, 4)
	for w.Running() > 0 {
		if step := w.step(t); len(step.Admitted) != 0 {
			t.Fatal("somebody joined")
		}
	}
	w.add(t, 3, 4)
	w.add(t, 3, 4)
	if step := w.step(t); len(step.Admitted) != 3 || step.Admitted[0] != late {
		t.Fatalf("a full batch: admitted %d", len(step.Admitted))
	}
	w.drain(t)
}

// A static batch waits until it is full, or until nobody comes any more.
func TestStaticPolicy(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 3, MaxBatchedTokens: 100, Policy: Static, BatchWait: time.Second}, 100, 4)
	for n := range 2 {
		w.add(t, 3, 4)
		if step := w.step(t); len(step.Items) != 0 || step.Wait != time.Second {
			t.Fatalf("%d came: %d items, wait %s", n+1, len(step.Items), step.Wait)
		}
		w.now = w.now.Add(900 * time.Millisecond)
	}
	w.add(t, 3, 4)
	if step := w.step(t); len(step.Admitted) != 3 {
		t.Fatalf("admitted %d", len(step.Admitted))
	}
	w.drain(t)
	w.add(t, 3, 4)
	w.step(t)
	w.now = w.now.Add(time.Second)
	if step := w.step(t); len(step.Admitted) != 1 {
		t.Errorf("the rest of a workload is not served: admitted %d", len(step.Admitted))
	}
}

// A batch that takes several steps to begin is filled all the same.
func TestBatchFillsOverSteps(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 3, MaxBatchedTokens: 8, Policy: Static, BatchWait: time.Second}, 100, 4)
	for range 3 {
		w.add(t, 7, 20)
	}
	for range 4 {
		w.step(t)
	}
	if w.Running() != 3 {
		t.Errorf("%d of 3 run", w.Running())
	}
	w.add(t, 7, 2)
	if step := w.step(t); len(step.Admitted) != 0 {
		t.Error("somebody joined the full batch")
	}
	w.drain(t)
}
