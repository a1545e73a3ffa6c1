package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// blastSteps is the length of a blast; under the race detector, of all its scenes together.
const blastSteps = 20_000

// A long run over many scenes, for what short random runs do not reach: classes and
// cancellations, with and without prefix cache and guesses, with room and without.
// After each step every invariant is checked; at the end each sequence must have the
// tokens that it would have got alone, and all blocks must be free.
func TestBlast(t *testing.T) {
	type scene struct {
		cache  bool
		drafts int
		blocks int
	}
	var scenes []scene
	for _, cache := range []bool{true, false} {
		for _, drafts := range []int{0, 1, 5} {
			for _, blocks := range []int{24, 160} {
				scenes = append(scenes, scene{cache, drafts, blocks})
			}
		}
	}
	for _, s := range scenes {
		t.Run(fmt.Sprintf("cache=%t/drafts=%d/blocks=%d", s.cache, s.drafts, s.blocks), func(t *testing.T) {
			w := newWorldOver(t, Limits{MaxNumSeqs: 8, MaxBatchedTokens: 32, LongPrefillTokenThreshold: 12, Drafts: s.drafts, MinShare: 0.15, Headroom: 0.1},
				NewBlockManager(s.blocks, 4, s.cache))
			b := blast{world: w, rng: rand.New(rand.NewPCG(42, uint64(s.blocks+s.drafts)))}
			w.guess = b.propose
			steps := blastSteps
			if raceEnabled {
				steps /= len(scenes)
			}
			for range steps {
				b.round(t)
			}
			w.drain(t)
			checkOutputs(t, b.all)
			b.report(t, s.cache, s.blocks < 100)
		})
	}
}

// blast keeps a world busy.
type blast struct {
	*world
	rng         *rand.Rand
	all         []*Sequence
	preemptions int
}

// round adds and cancels something now and then, and makes a step.
func (b *blast) round(t fataler) {
	if len(b.seqs) < 16 && b.rng.IntN(3) > 0 {
		q := newSequence(1+b.rng.IntN(40), 1+b.rng.IntN(50), b.rng.IntN(5)) // five beginnings, so that many are shared
		q.Class = Realtime + Class(b.rng.IntN(NumClasses))
		q.Salt = []string{"", "", "a"}[b.rng.IntN(3)]
		b.all = append(b.all, b.enter(t, q))
	}
	if len(b.seqs) > 0 && b.rng.IntN(40) == 0 {
		b.end(b.seqs[b.rng.IntN(len(b.seqs))])
	}
	b.preemptions += len(b.step(t).Preempted)
}

// propose guesses right three times in four.
func (b *blast) propose(q *Sequence, most int) (guesses []int) {
	all := q.tokens(nil, 0, q.Len())
	for range b.rng.IntN(most + 1) {
		next := nextToken(all)
		if b.rng.IntN(4) == 0 {
			next++
		}
		all, guesses = append(all, next), append(guesses, next)
	}
	return guesses
}

// report fails a run that shows little.
func (b *blast) report(t *testing.T, cache, tight bool) {
	s := b.Stats()
	switch {
	case tight && b.preemptions < 40:
		t.Errorf("only %d preemptions", b.preemptions)
	case tight && s.RecomputedTokens == 0:
		t.Error("nothing was computed again")
	case cache != (s.PrefixHits > 0):
		t.Errorf("%d tokens found in the cache", s.PrefixHits)
	}
	t.Logf("%d sequences, %d preemptions, %d of %d tokens found, %d thrown away, %d computed again",
		len(b.all), b.preemptions, s.PrefixHits, s.PrefixQueries, s.PreemptedTokens, s.RecomputedTokens)
}

// Random arrivals of all classes, steps and cancellations under random limits keep
// the invariants, under every policy.
func TestSchedulerStateMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seqs := rapid.IntRange(1, 6).Draw(t, "max_num_seqs")
		w := newWorldOver(t, Limits{
			MaxNumSeqs:                seqs,
			MaxBatchedTokens:          rapid.IntRange(seqs, 24).Draw(t, "budget"),
			LongPrefillTokenThreshold: rapid.IntRange(0, 5).Draw(t, "threshold"),
			Drafts:                    rapid.IntRange(0, 3).Draw(t, "drafts"),
			Headroom:                  rapid.SampledFrom([]float64{0, 0.15, 0.5}).Draw(t, "headroom"),
			MinShare:                  rapid.SampledFrom([]float64{0, 0.1, 0.2, maxMinShare}).Draw(t, "share"),
			Policy:                    rapid.SampledFrom([]Policy{Continuous, Dynamic, Static}).Draw(t, "policy"),
			BatchWait:                 5,
		}, NewBlockManager(rapid.IntRange(2, 24).Draw(t, "blocks"), rapid.IntRange(1, 4).Draw(t, "block size"), rapid.Bool().Draw(t, "cache")))
		if w.blocks.cache != nil && rapid.Bool().Draw(t, "collide") {
			w.blocks.cache.hash = func([]byte) uint64 { return 1 }
		}
		w.guess = func(q *Sequence, most int) (guesses []int) {
			return rapid.SliceOfN(rapid.IntRange('a', 'z'), 0, most).Draw(t, "guesses")
		}
		var all []*Sequence
		add := func(t *rapid.T) {
			prompt := rapid.IntRange(1, w.blocks.Capacity()-1).Draw(t, "prompt")
			q := newSequence(prompt, rapid.IntRange(1, w.blocks.Capacity()-prompt).Draw(t, "output"), rapid.IntRange(0, 2).Draw(t, "kind"))
			q.Class = Realtime + Class(rapid.IntRange(0, NumClasses-1).Draw(t, "class"))
			all = append(all, w.enter(t, q))
		}
		t.Repeat(map[string]func(*rapid.T){
			"add":   add,
			"step":  func(t *rapid.T) { w.step(t) },
			"steps": func(t *rapid.T) { w.step(t); w.step(t); w.step(t) },
			"time":  func(t *rapid.T) { w.now = w.now.Add(3) },
			"cancel": func(t *rapid.T) {
				if len(w.seqs) == 0 {
					t.Skip("nothing to cancel")
				}
				w.end(rapid.SampledFrom(w.seqs).Draw(t, "sequence"))
				w.checkTables(t)
				w.checkCache(t)
			},
		})
		w.drain(t)
		checkOutputs(t, all)
	})
}
