package engine

import (
	"testing"
)

// Once everything has its size a step allocates nothing: sequences come and go, blocks
// are kept, forgotten and found, and some are preempted.
func TestStepsAllocateNothing(t *testing.T) {
	l := benchLoad{running: 32, blocks: 32 * 12, prompt: 100, shared: 40, answer: 150, classes: true}
	l.begin(t)
	preempted := 0
	steps := func() {
		for range 500 {
			_, p := l.step(t)
			preempted += p
		}
	}
	steps()
	steps()
	if n := testing.AllocsPerRun(5, steps); n > 0 {
		t.Errorf("500 steps allocate %g times", n)
	}
	if s := l.scheduler.Stats(); preempted == 0 || s.PrefixHits == 0 {
		t.Errorf("%d preemptions, %d tokens found", preempted, s.PrefixHits)
	}
}

// What the cache takes grows with what it has been used for.
func TestPrefixCacheIsSmallAtFirst(t *testing.T) {
	const blocks, blockSize = 512, 16
	m := NewBlockManager(blocks, blockSize, true)
	if got := cacheBytes(m); got > blocks*32 {
		t.Errorf("%d bytes for %d blocks that were never used", got, blocks)
	}
	q := &Sequence{Prompt: make([]int, blocks*blockSize), computed: blocks * blockSize}
	q.blocks, _ = m.Grow(nil, len(q.Prompt))
	m.keep(q)
	if got := cacheBytes(m); len(knownNodes(m.cache)) != blocks || got > blocks*(64+blockSize*tokenSize) {
		t.Errorf("%d bytes for %d blocks of which %d hold something", got, blocks, len(knownNodes(m.cache)))
	}
}
