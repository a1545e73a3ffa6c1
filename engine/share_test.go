package engine

import (
	"slices"
	"testing"
)

// The more urgent class begins first, within a class the one that came first.
func TestUrgentFirst(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 8, MaxBatchedTokens: 100}, 100, 4)
	var want [NumClasses][]*Sequence
	for _, c := range []Class{Background, Normal, Realtime, Background, Realtime, Normal} {
		q := w.addClass(t, c, 3, 4)
		want[c.index()] = append(want[c.index()], q)
	}
	if step := w.step(t); !slices.Equal(step.Admitted, slices.Concat(want[:]...)) {
		t.Errorf("admitted %d in another order", len(step.Admitted))
	}
}

// An urgent sequence takes the place of the least urgent one that was admitted
// last, and the victim's tokens are the same in the end.
func TestUrgentTakesAPlace(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 3, MaxBatchedTokens: 100}, 100, 4)
	normal := w.addClass(t, Normal, 3, 20)
	w.step(t)
	w.addClass(t, Background, 3, 20)
	w.step(t)
	victim := w.addClass(t, Background, 3, 20)
	w.step(t)
	urgent := w.addClass(t, Realtime, 3, 20)
	step := w.step(t)
	if !slices.Equal(step.Preempted, []*Sequence{victim}) || !slices.Equal(step.Admitted, []*Sequence{urgent}) {
		t.Fatalf("preempted %d, admitted %d", len(step.Preempted), len(step.Admitted))
	}
	if normal.Preemptions != 0 {
		t.Error("the normal sequence was preempted before a background one")
	}
	all := slices.Clone(w.seqs)
	w.drain(t)
	checkOutputs(t, all)
}

// An urgent sequence takes blocks likewise, and none when that would not do.
func TestUrgentTakesBlocks(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 8, MaxBatchedTokens: 100}, 10, 4)
	w.addClass(t, Normal, 15, 1)
	w.seqs[0].MaxTokens = 20
	w.step(t)
	back := w.addClass(t, Background, 15, 20)
	w.step(t)
	w.addClass(t, Realtime, 30, 2) // needs 8 of 10, the two others hold 4 each: one is not enough
	if step := w.step(t); len(step.Preempted) != 2 || step.Preempted[0] != back {
		t.Errorf("preempted %d", len(step.Preempted))
	}

	w = newWorld(t, Limits{MaxNumSeqs: 8, MaxBatchedTokens: 100}, 10, 4)
	w.addClass(t, Realtime, 19, 20)
	w.step(t)
	w.addClass(t, Background, 11, 20)
	w.step(t)
	w.addClass(t, Realtime, 30, 2) // even without the background one there is no room
	if step := w.step(t); len(step.Preempted) != 0 {
		t.Error("preempted for nothing")
	}
}

// Under a flood of urgent sequences each class below keeps its share of the places,
// and gets its turn.
func TestMinShare(t *testing.T) {
	for _, blocks := range []int{400, 60} { // places are short; blocks are
		w := newWorld(t, Limits{MaxNumSeqs: 10, MaxBatchedTokens: 64, MinShare: 0.2, Headroom: 0.1}, blocks, 4)
		var low [NumClasses]int // steps in which the class runs all that its share says
		served := map[Class]int{}
		const rounds = 3000
		for n := range rounds {
			for len(w.waits(Realtime)) < 5 {
				w.addClass(t, Realtime, 8+n%9, 10)
			}
			for c := Normal; c <= Background; c++ {
				if len(w.waits(c)) < 5 {
					w.addClass(t, c, 8+n%7, 10)
				}
			}
			before := slices.Clone(w.seqs)
			w.step(t)
			for c, n := range w.count {
				if n >= w.guaranteed(Realtime+Class(c)) {
					low[c]++
				}
			}
			for _, q := range before {
				if q.Finished() {
					served[q.Class]++
				}
			}
		}
		all := served[Realtime] + served[Normal] + served[Background]
		for c := Normal; c <= Background; c++ {
			if share := float64(served[c]) / float64(all); share < 0.1 {
				t.Errorf("%d blocks: class %s had %d of %d", blocks, c, served[c], all)
			}
			if blocks == 400 && low[c.index()] < rounds*8/10 {
				t.Errorf("class %s had its places in %d of %d steps", c, low[c.index()], rounds)
			}
		}
		if served[Realtime] < all/3 {
			t.Errorf("%d blocks: the urgent class had %d of %d", blocks, served[Realtime], all)
		}
	}
}

// Nobody is guaranteed anything without a share, and the flood goes first.
func TestNoShare(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 4, MaxBatchedTokens: 64}, 100, 4)
	back := w.addClass(t, Background, 8, 10)
	w.step(t)
	for range 4 {
		w.addClass(t, Realtime, 8, 10)
	}
	if step := w.step(t); !slices.Equal(step.Preempted, []*Sequence{back}) {
		t.Errorf("preempted %d", len(step.Preempted))
	}
}

// A long urgent prompt leaves tokens of each step to a less urgent one that has begun.
func TestTokensAreShared(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 10, MaxBatchedTokens: 100, MinShare: 0.1}, 1000, 4)
	back := w.addClass(t, Background, 300, 1)
	urgent := w.addClass(t, Realtime, 300, 1)
	step := w.step(t)
	tokens := map[*Sequence]int{}
	for _, i := range step.Items {
		tokens[i.Seq] = i.Tokens
	}
	if tokens[urgent] != 90 || tokens[back] != 10 {
		t.Errorf("%d urgent tokens and %d others, want 90 and 10", tokens[urgent], tokens[back])
	}
}
