package engine

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// world is a scheduler with the fake runner, driven step by step.
type world struct {
	*Scheduler
	runner *fakeRunner
	seqs   []*Sequence // all that were added and are not finished
}

func newWorld(t fataler, l Limits, numBlocks, blockSize int) *world {
	t.Helper()
	s, err := NewScheduler(l, NewBlockManager(numBlocks, blockSize))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &world{Scheduler: s, runner: newFakeRunner(Config{NumBlocks: numBlocks, BlockSize: blockSize}, 1<<20)}
}

func (w *world) add(t fataler, prompt, maxTokens int) *Sequence {
	t.Helper()
	q := newSequence(prompt, maxTokens, len(w.seqs))
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
	step := w.Schedule()
	w.check(t, step)
	var batch []Chunk
	for _, i := range step.Items {
		c := Chunk{Tokens: i.Seq.tokens(nil, i.Start, i.Start+i.Tokens), Start: i.Start, Blocks: i.Seq.Blocks()}
		if i.Samples() {
			c.Sampler = i.Seq.Sampler
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
		if len(i.Seq.Output) == i.Seq.MaxTokens {
			w.end(i.Seq)
		}
	}
	return step
}

func (w *world) end(q *Sequence) {
	w.Finish(q)
	w.seqs = slices.DeleteFunc(w.seqs, func(s *Sequence) bool { return s == q })
}

// check holds a step against what must always be true.
func (w *world) check(t fataler, step Step) {
	t.Helper()
	l := w.limits
	sum, prefill := 0, false
	for n, i := range step.Items {
		q := i.Seq
		sum += i.Tokens
		decode := q.decoding()
		if decode && prefill {
			t.Fatalf("item %d is a decode behind a prefill chunk", n)
		}
		prefill = prefill || !decode
		if i.Tokens < 1 || i.Start != q.computed || i.Start+i.Tokens > q.Len() || len(q.blocks) != w.blocks.BlocksFor(i.Start+i.Tokens) {
			t.Fatalf("item %d: %d tokens from %d, computed %d of %d, %d blocks", n, i.Tokens, i.Start, q.computed, q.Len(), len(q.blocks))
		}
		if l.LongPrefillTokenThreshold > 0 && i.Tokens > l.LongPrefillTokenThreshold {
			t.Fatalf("item %d has %d tokens, the threshold is %d", n, i.Tokens, l.LongPrefillTokenThreshold)
		}
		if q.status != statusRunning || q.inStep {
			t.Fatalf("item %d: status %d, in step %t", n, q.status, q.inStep)
		}
	}
	scheduled := func(q *Sequence) bool {
		return slices.ContainsFunc(step.Items, func(i Item) bool { return i.Seq == q })
	}
	for _, q := range w.running {
		if q.decoding() && !scheduled(q) {
			t.Fatalf("a decode was not scheduled")
		}
	}
	switch {
	case sum != step.Tokens || sum > l.MaxBatchedTokens:
		t.Fatalf("items have %d tokens, the step says %d, the budget is %d", sum, step.Tokens, l.MaxBatchedTokens)
	case len(w.running) > l.MaxNumSeqs:
		t.Fatalf("%d run, %d may", len(w.running), l.MaxNumSeqs)
	case len(step.Items) == 0 && !w.Idle():
		t.Fatalf("nothing scheduled with %d running and %d waiting", len(w.running), len(w.waiting))
	case len(step.Preempted) > 0 && len(step.Admitted) > 0:
		t.Fatalf("admitted in a step that preempts")
	case len(w.running) > 0 && !scheduled(w.running[0]):
		t.Fatalf("the oldest sequence makes no progress")
	case len(w.running)+len(w.waiting) != len(w.seqs):
		t.Fatalf("%d running and %d waiting of %d", len(w.running), len(w.waiting), len(w.seqs))
	}
	for _, q := range w.seqs {
		if q.Preemptions > maxPreemptions {
			t.Fatalf("preempted %d times", q.Preemptions)
		}
	}
	w.checkTables(t)
}

func (w *world) checkTables(t fataler) {
	t.Helper()
	var tables [][]int
	for _, q := range w.running {
		tables = append(tables, q.blocks)
	}
	for _, q := range w.waiting {
		if len(q.blocks) != 0 || q.computed != 0 {
			t.Fatalf("a waiting sequence holds %d blocks", len(q.blocks))
		}
	}
	checkBlocks(t, w.blocks, tables)
}

// Random arrivals, steps and cancellations keep the invariants, everything that was
// served has the tokens that a sequence alone would have got, and all blocks come back.
func TestSchedulerStateMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blockSize := rapid.IntRange(1, 4).Draw(t, "block size")
		numBlocks := rapid.IntRange(2, 24).Draw(t, "blocks")
		seqs := rapid.IntRange(1, 6).Draw(t, "max_num_seqs")
		w := newWorld(t, Limits{
			MaxNumSeqs:                seqs,
			MaxBatchedTokens:          rapid.IntRange(seqs, 24).Draw(t, "budget"),
			LongPrefillTokenThreshold: rapid.IntRange(0, 5).Draw(t, "threshold"),
		}, numBlocks, blockSize)
		var all []*Sequence
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				prompt := rapid.IntRange(1, w.blocks.Capacity()-1).Draw(t, "prompt")
				all = append(all, w.add(t, prompt, rapid.IntRange(1, w.blocks.Capacity()-prompt).Draw(t, "output")))
			},
			"step":  func(t *rapid.T) { w.step(t) },
			"steps": func(t *rapid.T) { w.step(t); w.step(t); w.step(t) },
			"cancel": func(t *rapid.T) {
				if len(w.seqs) == 0 {
					t.Skip("nothing to cancel")
				}
				w.end(rapid.SampledFrom(w.seqs).Draw(t, "sequence"))
				w.checkTables(t)
			},
		})
		w.drain(t)
		checkOutputs(t, all)
	})
}

// A long run under memory pressure, for what short random runs do not reach.
func TestSchedulerBlast(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 8, MaxBatchedTokens: 32, LongPrefillTokenThreshold: 12}, 24, 4)
	var all []*Sequence
	preemptions := 0
	for n := range 6000 {
		if len(w.seqs) < 14 {
			q := newSequence(1+n*17%40, 1+n*29%50, n)
			if err := w.Add(q); err != nil {
				t.Fatal(err)
			}
			w.seqs, all = append(w.seqs, q), append(all, q)
		}
		if n%97 == 0 {
			w.end(w.seqs[n%len(w.seqs)])
		}
		preemptions += len(w.step(t).Preempted)
	}
	w.drain(t)
	checkOutputs(t, all)
	if preemptions < 100 {
		t.Errorf("only %d preemptions: this run shows little", preemptions)
	}
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
		w.step(t)
	}
	if w.blocks.Free() != w.blocks.Total() {
		t.Fatalf("%d of %d blocks are free at the end", w.blocks.Free(), w.blocks.Total())
	}
}

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

func TestDecodesGoFirst(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 2, MaxBatchedTokens: 4}, 16, 4)
	long := w.add(t, 12, 4)
	short := w.add(t, 1, 8)
	w.step(t) // the long prompt takes the whole budget, again and again
	for range 3 {
		w.step(t)
	}
	if got := w.Schedule(); len(got.Items) != 2 || got.Items[0].Tokens != 1 || got.Items[1].Tokens != 1 {
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
	if w.waiting[0] != young || w.waiting[1] != fresh {
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
	step := w.Schedule()
	// The decode of the young one was scheduled first, then lost its three blocks to the old one's chunk of five.
	if len(step.Items) != 2 || step.Items[0].Tokens != 5 || step.Items[1].Seq != mid || step.Items[1].Tokens != 3 || step.Tokens != 8 {
		t.Errorf("items %+v of %d tokens, want chunks of 5 and 3", step.Items, step.Tokens)
	}
}

// An idle engine keeps no reserve: what Add lets in can begin.
func TestWatermark(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 2, MaxBatchedTokens: 1000}, 200, 1)
	w.add(t, 199, 1)
	if step := w.step(t); len(step.Admitted) != 1 {
		t.Error("the idle engine admits nobody")
	}
	w.drain(t)
	w.add(t, 1, 10)
	w.step(t)
	w.add(t, 197, 1) // would leave one block free, less than 1 % of 200
	if step := w.step(t); len(step.Admitted) != 0 {
		t.Error("admitted into the reserve")
	}
	w.drain(t)
}

// promote lets a waiting sequence run at once, past the admission rule, to put a test's scene together.
func (w *world) promote(q *Sequence, tokens int) {
	w.waiting = remove(w.waiting, q)
	q.blocks, _ = w.blocks.Grow(nil, tokens)
	q.status = statusRunning
	w.running = append(w.running, q)
}

// After maxPreemptions a sequence waits until it cannot be preempted again.
func TestPreemptionsAreBounded(t *testing.T) {
	w := newWorld(t, Limits{MaxNumSeqs: 4, MaxBatchedTokens: 16}, 10, 2)
	old := w.add(t, 2, 12)
	w.step(t)
	q := w.add(t, 2, 10)
	q.Preemptions = maxPreemptions
	for !old.Finished() {
		if step := w.step(t); slices.Contains(step.Admitted, q) && w.blocks.Free() < 3 {
			t.Fatalf("admitted with %d blocks free", w.blocks.Free())
		}
	}
	w.drain(t)
	if !q.Finished() || q.Preemptions != maxPreemptions {
		t.Errorf("finished %t, preempted %d times", q.Finished(), q.Preemptions)
	}
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
		"no sequences":    {MaxNumSeqs: 0, MaxBatchedTokens: 4},
		"budget too low":  {MaxNumSeqs: 8, MaxBatchedTokens: 7},
		"below threshold": {MaxNumSeqs: 1, MaxBatchedTokens: 4, LongPrefillTokenThreshold: -1},
	} {
		if _, err := NewScheduler(l, NewBlockManager(4, 4)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewScheduler(Limits{MaxNumSeqs: 1, MaxBatchedTokens: 1}, NewBlockManager(0, 4)); err == nil {
		t.Error("no blocks: no error")
	}
}
