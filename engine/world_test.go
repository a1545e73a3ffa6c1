package engine

import (
	"slices"
	"time"
)

// world is a scheduler with the fake runner, driven step by step. After each step
// it holds everything that must always be true against the state.
type world struct {
	*Scheduler
	runner *fakeRunner
	now    time.Time
	seqs   []*Sequence // all that were added and are not finished
	guess  func(q *Sequence, most int) []int
}

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func newWorld(t fataler, l Limits, numBlocks, blockSize int) *world {
	t.Helper()
	return newWorldOver(t, l, NewBlockManager(numBlocks, blockSize, true))
}

func newWorldOver(t fataler, l Limits, b *BlockManager) *world {
	t.Helper()
	s, err := NewScheduler(l, b)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &world{Scheduler: s, runner: newFakeRunner(Config{NumBlocks: b.Total(), BlockSize: b.blockSize}, 1<<20)}
}

func (w *world) add(t fataler, prompt, maxTokens int) *Sequence {
	t.Helper()
	return w.enter(t, newSequence(prompt, maxTokens, len(w.seqs)))
}

func (w *world) addClass(t fataler, c Class, prompt, maxTokens int) *Sequence {
	t.Helper()
	q := newSequence(prompt, maxTokens, len(w.seqs))
	q.Class = c
	return w.enter(t, q)
}

func (w *world) enter(t fataler, q *Sequence) *Sequence {
	t.Helper()
	q.Arrived = w.now
	if err := w.Add(q); err != nil {
		t.Fatalf("add: %v", err)
	}
	w.seqs = append(w.seqs, q)
	return q
}

func newSequence(prompt, maxTokens, seed int) *Sequence {
	q := &Sequence{MaxTokens: maxTokens, Sampler: NewSampler(0, 1, 0)}
	for i := range prompt {
		q.Prompt = append(q.Prompt, (seed*31+i*7)%fakeVocab)
	}
	return q
}

// step schedules, checks and computes one step; the sequences that reach their length end.
func (w *world) step(t fataler) Step {
	t.Helper()
	fresh := w.heads()
	step := w.Schedule(w.now)
	w.check(t, step, fresh)
	var batch []Chunk
	for _, i := range step.Items {
		c := Chunk{Tokens: i.Seq.tokens(nil, i.Start, i.Start+i.Tokens), Start: i.Start, Blocks: i.Seq.Blocks()}
		if i.Samples() {
			c.Sampler = i.Seq.Sampler
		}
		if i.Drafts > 0 && w.guess != nil {
			guesses := w.guess(i.Seq, i.Drafts)
			c.Tokens, c.Drafts = append(c.Tokens, guesses...), len(guesses)
		}
		batch = append(batch, c)
	}
	out, err := w.runner.Run(batch)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for n, i := range step.Items {
		tokens := out[n].Tokens
		w.Computed(i, max(0, len(tokens)-1))
		if len(tokens) == 0 {
			continue
		}
		i.Seq.Output = append(i.Seq.Output, tokens...)
		if len(i.Seq.Output) >= i.Seq.MaxTokens {
			w.end(i.Seq)
		}
	}
	return step
}

func (w *world) end(q *Sequence) {
	w.Finish(q)
	w.seqs = slices.DeleteFunc(w.seqs, func(s *Sequence) bool { return s == q })
}

// heads are the first sequences of the queues.
func (w *world) heads() (heads []*Sequence) {
	for i := range w.waiting {
		if q := w.waiting[i].first; q != nil {
			heads = append(heads, q)
		}
	}
	return heads
}

// waits is the queue of a class.
func (w *world) waits(c Class) (all []*Sequence) {
	for q := w.waiting[c.index()].first; q != nil; q = q.after {
		all = append(all, q)
	}
	return all
}

// promote lets a waiting sequence run at once, past the admission rule, to put a test's scene together.
func (w *world) promote(q *Sequence, tokens int) {
	w.queue(q).remove(q)
	q.blocks, _ = w.blocks.Grow(nil, tokens)
	q.status = statusRunning
	w.running = append(w.running, q)
	w.count[q.Class.index()]++
}

// drain steps until nothing is left, within as many steps as each token takes alone.
func (w *world) drain(t fataler) {
	t.Helper()
	most := 0
	for _, q := range w.seqs {
		most += (q.most() + 1) * (maxPreemptions + 1)
	}
	for n := 0; !w.Idle(); n++ {
		if n > most {
			t.Fatalf("still %d sequences after %d steps", len(w.seqs), n)
		}
		w.now = w.now.Add(w.step(t).Wait)
	}
	if w.blocks.Free() != w.blocks.Total() {
		t.Fatalf("%d of %d blocks are free at the end", w.blocks.Free(), w.blocks.Total())
	}
}

// checkOutputs holds what was generated against what each sequence would have got alone.
func checkOutputs(t fataler, all []*Sequence) {
	t.Helper()
	for n, q := range all {
		tokens := slices.Clone(q.Prompt)
		for i, got := range q.Output {
			want := nextToken(tokens)
			if got != want {
				t.Fatalf("sequence %d, output %d is %d, alone it would be %d", n, i, got, want)
			}
			tokens = append(tokens, want)
		}
	}
}
