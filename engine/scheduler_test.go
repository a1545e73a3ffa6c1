package engine

import (
	"errors"
	"slices"
	"testing"
)

func TestDecodesGoFirst(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 2, MaxBatchedTokens: 4}, 16, 4)
	long := w.add(t, 12, 4)
	short := w.add(t, 1, 8)
	w.step(t) // the long prompt takes the whole budget, again and again
	for range 3 {
		w.step(t)
	}
	if got := w.Schedule(w.now); len(got.Items) != 2 || got.Items[0].Tokens != 1 || got.Items[1].Tokens != 1 {
		t.Fatalf("items %+v", got.Items)
	}
	if len(long.Output) == 0 || len(short.Output) == 0 {
		t.Errorf("outputs of %d and %d tokens", len(long.Output), len(short.Output))
	}

	w = newWorld(t, Limits{MaxNumSeqs: 2, MaxBatchedTokens: 4}, 16, 4)
	first := w.add(t, 1, 8)
	w.step(t)
	second := w.add(t, 12, 4)
	step := w.step(t)
	if step.Items[0].Seq != first || step.Items[1].Seq != second || step.Items[1].Tokens != 3 {
		t.Errorf("items %+v: want the decode and a chunk of what is left", step.Items)
	}
}

// A victim that was scheduled in the same step gives back its budget, its blocks
// and its place, goes in front of those that wait, and nobody is admitted.
func TestVictimOfTheSameStep(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 4, MaxBatchedTokens: 8, LongPrefillTokenThreshold: 2}, 5, 2)
	old := w.add(t, 7, 3)
	w.step(t)               // 2 of 7 computed
	young := w.add(t, 1, 5) // held back until it fits
	w.promote(young, young.Len())
	fresh := w.add(t, 1, 1)
	var step Step
	for len(step.Preempted) == 0 {
		step = w.step(t)
		if w.Idle() {
			t.Fatal("nobody was preempted")
		}
	}
	if !slices.Equal(step.Preempted, []*Sequence{young}) || young.Preemptions != 1 {
		t.Fatalf("preempted %d, the young one %d times", len(step.Preempted), young.Preemptions)
	}
	if len(step.Items) != 1 || step.Items[0].Seq != old {
		t.Fatalf("items %+v: want the old one alone", step.Items)
	}
	if got := w.waits(Normal); got[0] != young || got[1] != fresh {
		t.Error("the preempted sequence is not in front of the fresh one")
	}
}

// The budget that a victim gives back is used in the same step.
func TestVictimReturnsItsBudget(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 3, MaxBatchedTokens: 8, LongPrefillTokenThreshold: 5}, 5, 2)
	old, mid, young := newSequence(8, 2, 0), newSequence(8, 2, 1), newSequence(5, 5, 2)
	for _, q := range []*Sequence{old, mid, young} {
		if err := w.Add(q); err != nil {
			t.Fatal(err)
		}
		w.promote(q, 0)
		w.seqs = append(w.seqs, q)
	}
	young.Output = []int{7}
	young.blocks, _ = w.blocks.Grow(nil, 6)
	young.computed = 5
	step := w.Schedule(w.now)
	// The decode of the young one was scheduled first, then lost its three blocks to the old one's chunk of five.
	if len(step.Items) != 2 || step.Items[0].Tokens != 5 || step.Items[1].Seq != mid || step.Items[1].Tokens != 3 || step.Tokens != 8 {
		t.Errorf("items %+v of %d tokens, want chunks of 5 and 3", step.Items, step.Tokens)
	}
}

// An idle engine keeps no headroom: what Add lets in can begin.
func TestHeadroom(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 2, MaxBatchedTokens: 1000, Headroom: 0.15}, 200, 1)
	w.add(t, 199, 1)
	if step := w.step(t); len(step.Admitted) != 1 {
		t.Error("the idle engine admits nobody")
	}
	w.drain(t)
	w.add(t, 1, 10)
	w.step(t)
	w.add(t, 170, 1) // 1 + 170 of 200 would leave less than 30
	if step := w.step(t); len(step.Admitted) != 0 {
		t.Error("admitted into the headroom")
	}
	w.drain(t)
}

// After maxPreemptions a sequence takes blocks from others and nobody takes its.
func TestPreemptionsAreBounded(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 4, MaxBatchedTokens: 16}, 10, 2)
	q := w.add(t, 2, 12)
	q.Preemptions = maxPreemptions
	other := w.addClass(t, Realtime, 2, 12)
	w.drain(t)
	if q.Preemptions != maxPreemptions || other.Preemptions == 0 {
		t.Errorf("preempted %d times, the other %d times", q.Preemptions, other.Preemptions)
	}
}

// Two that must not be preempted run together only if both fit to their ends.
func TestAgedSequencesFitTogether(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 4, MaxBatchedTokens: 16}, 10, 2)
	first, second := w.add(t, 2, 12), w.add(t, 2, 12)
	first.Preemptions, second.Preemptions = maxPreemptions, maxPreemptions
	if step := w.step(t); !slices.Equal(step.Admitted, []*Sequence{first}) {
		t.Errorf("admitted %d", len(step.Admitted))
	}
	w.drain(t)
}

func TestAddRefuses(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 1, MaxBatchedTokens: 8}, 4, 4)
	for name, q := range map[string]*Sequence{
		"no prompt":           newSequence(0, 1, 0),
		"nothing to generate": newSequence(1, 0, 0),
		"longer":              newSequence(10, 7, 0),
		"overflow":            newSequence(1, int(^uint(0)>>1), 0),
	} {
		err := w.Add(q)
		if err == nil || errors.Is(err, ErrUnservable) != (name == "longer" || name == "overflow") {
			t.Errorf("%s: %v", name, err)
		}
	}
	fits := newSequence(10, 6, 0)
	if err := w.Add(fits); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(fits); err == nil {
		t.Error("added twice")
	}
	w.seqs = append(w.seqs, fits)
	w.drain(t)
}

func TestNewSchedulerRefuses(t *testing.T) {
	for name, l := range map[string]Limits{
		"no sequences":     {MaxNumSeqs: 0, MaxBatchedTokens: 4},
		"budget too low":   {MaxNumSeqs: 8, MaxBatchedTokens: 7},
		"below threshold":  {MaxNumSeqs: 1, MaxBatchedTokens: 4, LongPrefillTokenThreshold: -1},
		"all is headroom":  {MaxNumSeqs: 1, MaxBatchedTokens: 4, Headroom: 1},
		"too large shares": {MaxNumSeqs: 1, MaxBatchedTokens: 4, MinShare: 0.5},
		"unknown policy":   {MaxNumSeqs: 1, MaxBatchedTokens: 4, Policy: "fair"},
	} {
		if _, err := NewScheduler(l, NewBlockManager(4, 4, true)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewScheduler(Limits{MaxNumSeqs: 1, MaxBatchedTokens: 1}, NewBlockManager(0, 4, true)); err == nil {
		t.Error("no blocks: no error")
	}
}
