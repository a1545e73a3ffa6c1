package engine

import (
	"slices"
	"testing"
)

// prompt is a sequence of so many shared tokens and some of its own.
func prompt(shared, own, seed int) *Sequence {
	q := newSequence(shared, 1, 0)
	for i := range own {
		q.Prompt = append(q.Prompt, (seed*37+i*11+5)%fakeVocab)
	}
	return q
}

// start puts a new sequence into the batch and computes its prompt.
func (w *world) start(t fataler, q *Sequence) {
	t.Helper()
	q.MaxTokens = 10
	w.enter(t, q)
	if !slices.Contains(w.step(t).Admitted, q) {
		t.Fatalf("not admitted")
	}
}

// The allocation, sharing and eviction orders of vLLM V1 (its test_prefill, with
// blocks numbered from 0): beginnings are kept longest, what is empty is used first.
func TestPrefixCacheOrder(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 4, MaxBatchedTokens: 1000}, 10, 16)
	first, second := prompt(48, 7, 1), prompt(48, 5, 2)
	first.MaxTokens, second.MaxTokens = 5, 5
	w.enter(t, first)
	w.step(t)
	if want := []int{0, 1, 2, 3}; !slices.Equal(first.Blocks(), want) || first.Cached != 0 {
		t.Fatalf("blocks %v, %d cached; want %v and none", first.Blocks(), first.Cached, want)
	}
	w.enter(t, second)
	w.step(t)
	if want := []int{0, 1, 2, 4}; !slices.Equal(second.Blocks(), want) || second.Cached != 48 {
		t.Fatalf("blocks %v, %d cached; want %v and 48", second.Blocks(), second.Cached, want)
	}
	if got := w.blocks.refs[:4]; !slices.Equal(got, []int32{2, 2, 2, 1}) {
		t.Errorf("references %v", got)
	}
	w.end(first)
	w.end(second)
	want := []int{4, 3, 5, 6, 7, 8, 9, 2, 1, 0}
	if got := freeOrder(w.blocks); !slices.Equal(got, want) {
		t.Fatalf("free %v, want %v", got, want)
	}
	miss := newSequence(159, 1, 9)
	w.enter(t, miss)
	w.Schedule(w.now)
	if !slices.Equal(miss.Blocks(), want) || w.blocks.Cached() != 0 {
		t.Errorf("a miss of 160 tokens takes %v, want %v; %d blocks still keep something", miss.Blocks(), want, w.blocks.Cached())
	}
}

// All tokens but the last may be found, in whole blocks.
func TestPrefixHitLeavesOneToken(t *testing.T) {
	for _, c := range []struct{ prompt, want int }{{16, 12}, {17, 16}, {4, 0}, {5, 4}, {1, 0}} {
		w := newWorld(t, Limits{MaxNumSeqs: 2, MaxBatchedTokens: 100}, 20, 4)
		w.start(t, newSequence(20, 1, 0))
		again := newSequence(c.prompt, 1, 0)
		w.start(t, again)
		if again.Cached != c.want {
			t.Errorf("a prompt of %d tokens: %d found, want %d", c.prompt, again.Cached, c.want)
		}
	}
}

// Generated tokens count as well: the next turn of a chat finds the last answer.
func TestPrefixCacheKeepsAnswers(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 1, MaxBatchedTokens: 100}, 20, 4)
	first := w.add(t, 9, 8)
	w.drain(t)
	next := &Sequence{Prompt: slices.Concat(first.Prompt, first.Output, []int{1, 2, 3}), MaxTokens: 1, Sampler: first.Sampler}
	w.enter(t, next)
	w.drain(t)
	if next.Cached != 16 { // the answer's last token was never computed
		t.Errorf("%d of %d tokens found, want 16", next.Cached, len(next.Prompt))
	}
}

// Sequences of different salts share nothing, those of one do.
func TestSaltsShareNothing(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 4, MaxBatchedTokens: 100}, 40, 4)
	for _, c := range []struct {
		salt string
		want int
	}{{"", 0}, {"a", 0}, {"a", 16}, {"", 16}, {"b", 0}} {
		q := newSequence(18, 1, 0)
		q.Salt = c.salt
		w.enter(t, q)
		w.drain(t)
		if q.Cached != c.want {
			t.Errorf("salt %q: %d found, want %d", c.salt, q.Cached, c.want)
		}
	}
}

// With a hash that always collides the tokens still decide.
func TestHashCollisions(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 2, MaxBatchedTokens: 100}, 40, 4)
	w.blocks.cache.hash = func([]byte) uint64 { return 7 }
	for seed := range 4 {
		q := newSequence(14, 1, seed)
		w.enter(t, q)
		w.drain(t)
		if q.Cached != 0 {
			t.Errorf("kind %d: %d tokens of others found", seed, q.Cached)
		}
	}
	// The same block after two beginnings is not the same prefix.
	other := newSequence(14, 1, 1)
	copy(other.Prompt[4:8], newSequence(14, 1, 0).Prompt[4:8])
	w.enter(t, other)
	w.drain(t)
	if other.Cached != 4 {
		t.Errorf("%d tokens found, want 4", other.Cached)
	}
}

// Blocks that are found but free count as taken: there must be room for the rest.
func TestFoundBlocksAreNotFree(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 4, MaxBatchedTokens: 100}, 10, 4)
	w.add(t, 20, 1)
	w.drain(t) // five blocks keep the prompt
	w.start(t, newSequence(16, 1, 3))
	long := newSequence(20, 1, 0)
	long.Prompt = append(long.Prompt, newSequence(8, 1, 5).Prompt...)
	w.enter(t, long) // needs 7: 5 found, which are 5 of the 6 that are free
	if step := w.step(t); len(step.Admitted) != 0 {
		t.Errorf("admitted with %d blocks", len(long.Blocks()))
	}
}

// What was not computed soundly is found by nobody, not even through others that share it.
func TestDiscardForgets(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 4, MaxBatchedTokens: 100}, 40, 4)
	bad, other := newSequence(18, 1, 0), newSequence(18, 1, 0)
	w.start(t, bad)
	w.start(t, other)
	if other.Cached != 16 {
		t.Fatalf("%d tokens found, want 16", other.Cached)
	}
	w.Discard(bad)
	w.seqs = slices.DeleteFunc(w.seqs, func(q *Sequence) bool { return q == bad })
	again := newSequence(18, 1, 0)
	w.enter(t, again)
	w.Schedule(w.now)
	if again.Cached != 0 {
		t.Errorf("%d discarded tokens found", again.Cached)
	}
	for _, q := range []*Sequence{other, again} {
		w.Finish(q)
	}
	if w.blocks.Free() != w.blocks.Total() {
		t.Errorf("%d of %d blocks are free", w.blocks.Free(), w.blocks.Total())
	}
}

// Who goes on from blocks that were discarded keeps nothing more, whatever the memory
// of what was forgotten is used for since.
func TestDiscardEndsWhatGoesOn(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 4, MaxBatchedTokens: 100}, 40, 4)
	bad, other := newSequence(18, 1, 0), newSequence(18, 1, 0)
	w.start(t, bad)
	w.start(t, other)
	w.Discard(bad)
	w.seqs = slices.DeleteFunc(w.seqs, func(q *Sequence) bool { return q == bad })
	next := newSequence(22, 1, 5)
	w.start(t, next)
	for len(other.Output) < 9 {
		w.step(t)
	}
	if known := len(knownNodes(w.blocks.cache)); other.kept != 4 || known != next.kept {
		t.Errorf("%d blocks kept, before it was 4; %d prefixes, the next one has %d", other.kept, known, next.kept)
	}
}

// Without prefix caching nothing is kept or found.
func TestPrefixCachingOff(t *testing.T) {
	w := newWorldOver(t, Limits{MaxNumSeqs: 1, MaxBatchedTokens: 100}, NewBlockManager(20, 4, false))
	for range 2 {
		q := w.add(t, 18, 1)
		w.drain(t)
		if q.Cached != 0 || w.blocks.Cached() != 0 {
			t.Errorf("%d tokens found, %d blocks kept", q.Cached, w.blocks.Cached())
		}
	}
}

// Nothing of a sequence is left behind when its blocks are used for another.
func TestPrefixCacheForgets(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 2, MaxBatchedTokens: 100}, 6, 4)
	for n := range 50 {
		q := newSequence(20, 1, n)
		q.Salt = string(rune('a' + n%26))
		w.enter(t, q)
		w.drain(t)
	}
	c := w.blocks.cache
	if known := len(knownNodes(c)); known > 6 || len(c.roots) > 6 || len(c.nodes) > 1+2*6 {
		t.Errorf("%d prefixes and %d roots in %d nodes for 6 blocks", known, len(c.roots), len(c.nodes))
	}
}
