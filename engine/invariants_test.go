package engine

import "slices"

// check holds a step against what must always be true. heads were the first of the
// queues before it.
func (w *world) check(t fataler, step Step, heads []*Sequence) {
	t.Helper()
	w.checkItems(t, step)
	w.checkProgress(t, step, heads)
	w.checkQueues(t)
	w.checkTables(t)
	w.checkCache(t)
}

// The tokens of a step are within the budget, decodes go before prefill chunks, and
// an item continues its sequence where it stands.
func (w *world) checkItems(t fataler, step Step) {
	t.Helper()
	l, sum, prefill := w.limits, 0, false
	for n, i := range step.Items {
		q := i.Seq
		sum += i.Tokens + i.Drafts
		decode := q.decoding() && !slices.Contains(step.Admitted, q) // one that is back and found all but a token begins, too
		prefill = prefill || !decode
		switch {
		case decode && prefill:
			t.Fatalf("item %d is a decode behind a prefill chunk", n)
		case i.Tokens < 1 || i.Start != q.computed || i.Start+i.Tokens > q.Len() || len(q.blocks) < w.blocks.BlocksFor(i.Start+i.Tokens+i.Drafts):
			t.Fatalf("item %d: %d tokens and %d guesses from %d, computed %d of %d, %d blocks", n, i.Tokens, i.Drafts, i.Start, q.computed, q.Len(), len(q.blocks))
		case i.Drafts > 0 && (!decode || i.Drafts > l.Drafts || len(q.Output)+1+i.Drafts > q.MaxTokens):
			t.Fatalf("item %d: %d guesses, decode %t, %d of %d tokens generated", n, i.Drafts, decode, len(q.Output), q.MaxTokens)
		case l.LongPrefillTokenThreshold > 0 && i.Tokens > l.LongPrefillTokenThreshold:
			t.Fatalf("item %d has %d tokens, the threshold is %d", n, i.Tokens, l.LongPrefillTokenThreshold)
		case q.status != statusRunning || !q.inStep:
			t.Fatalf("item %d: status %d, in step %t", n, q.status, q.inStep)
		case slices.Contains(step.Preempted, q) && !slices.Contains(step.Admitted, q):
			t.Fatalf("item %d was preempted", n)
		}
	}
	if sum != step.Tokens || sum > l.MaxBatchedTokens {
		t.Fatalf("items have %d tokens, the step says %d, the budget is %d", sum, step.Tokens, l.MaxBatchedTokens)
	}
	if len(w.running) > l.MaxNumSeqs {
		t.Fatalf("%d run, %d may", len(w.running), l.MaxNumSeqs)
	}
}

// Every decode is scheduled, so is the oldest of the most urgent class, and an
// engine that runs nothing admits one of those that wait.
func (w *world) checkProgress(t fataler, step Step, heads []*Sequence) {
	t.Helper()
	scheduled := func(q *Sequence) bool {
		return slices.ContainsFunc(step.Items, func(i Item) bool { return i.Seq == q })
	}
	var first *Sequence
	for _, q := range w.running {
		if q.decoding() && !scheduled(q) {
			t.Fatalf("a decode was not scheduled")
		}
		if first == nil || q.Class < first.Class {
			first = q
		}
	}
	switch {
	case first != nil && !scheduled(first):
		t.Fatalf("the oldest sequence of the most urgent class makes no progress")
	case len(step.Items) == 0 && step.Wait == 0 && !w.Idle():
		t.Fatalf("nothing scheduled with %d running and %d waiting", len(w.running), w.Waiting())
	case len(w.running) == 0 && step.Wait == 0 && len(heads) > 0:
		t.Fatalf("an idle engine admits none of %d queues", len(heads))
	}
	for _, q := range w.seqs {
		if q.Preemptions > maxPreemptions {
			t.Fatalf("preempted %d times", q.Preemptions)
		}
	}
	for _, q := range step.Admitted {
		if q.Preemptions == 0 && (q.Cached >= q.Len() || q.Cached%w.blocks.blockSize != 0) {
			t.Fatalf("%d of %d tokens were found in blocks of %d", q.Cached, q.Len(), w.blocks.blockSize)
		}
	}
}

// Queues hold each waiting sequence once, the preempted in front of the fresh, and
// the counts by class are true.
func (w *world) checkQueues(t fataler) {
	t.Helper()
	var count [NumClasses]int
	for _, q := range w.running {
		count[q.Class.index()]++
	}
	waiting := 0
	for c := Realtime; c <= Background; c++ {
		all := w.waits(c)
		waiting += len(all)
		if len(all) != w.waiting[c.index()].count {
			t.Fatalf("queue %s has %d sequences, counts %d", c, len(all), w.waiting[c.index()].count)
		}
		for i, q := range all {
			switch {
			case q.Class != c || q.status != statusWaiting || len(q.blocks) != 0 || q.computed != 0:
				t.Fatalf("queue %s: class %s, status %d, %d blocks, %d computed", c, q.Class, q.status, len(q.blocks), q.computed)
			case i > 0 && q.Preemptions > 0 && all[i-1].Preemptions == 0:
				t.Fatalf("queue %s: a preempted sequence behind a fresh one", c)
			}
		}
	}
	if count != w.count || len(w.running)+waiting != len(w.seqs) {
		t.Fatalf("running by class %v, counted %v; %d waiting of %d", count, w.count, waiting, len(w.seqs))
	}
}

func (w *world) checkTables(t fataler) {
	t.Helper()
	var tables [][]int
	for _, q := range w.running {
		tables = append(tables, q.blocks)
	}
	checkBlocks(t, w.blocks, tables)
}

// checkBlocks: the references of a block are the tables that hold it; free and used
// blocks are disjoint and together all.
func checkBlocks(t fataler, b *BlockManager, tables [][]int) {
	t.Helper()
	held := make([]int32, b.Total())
	for _, table := range tables {
		for _, block := range table {
			held[block]++
		}
	}
	if !slices.Equal(held, b.refs) {
		t.Fatalf("references %v, tables hold %v", b.refs, held)
	}
	order, cached := freeOrder(b), 0
	free := make(map[int]bool)
	for _, block := range order {
		free[block] = true
		if b.keeps(block) {
			cached++
		}
	}
	if len(order) != b.Free() || len(free) != b.Free() || b.Free()+b.Used() != b.Total() || cached != b.Cached() {
		t.Fatalf("%d free (%d in the list, %d of them distinct), %d used of %d; %d cached, counted %d",
			b.Free(), len(order), len(free), b.Used(), b.Total(), cached, b.Cached())
	}
	for block, n := range held {
		if free[block] == (n > 0) {
			t.Fatalf("block %d: %d references, free %t", block, n, free[block])
		}
	}
}

// freeOrder is the free blocks in the order of their allocation.
func freeOrder(b *BlockManager) (order []int) {
	f := &b.free
	for block := f.links[f.end()].next; block != f.end() && len(order) <= b.Total(); block = f.links[block].next {
		order = append(order, int(block))
	}
	return order
}

// What a block is known for is what the runner has written into it; no beginning is
// lost before what goes on from it; and nothing is remembered that no block holds.
func (w *world) checkCache(t fataler) {
	t.Helper()
	c := w.blocks.cache
	if c == nil {
		return
	}
	holders := map[uint32]int{}
	for block, h := range c.holds {
		if h.node == 0 {
			continue
		}
		holders[h.node]++
		if got := w.runner.cache[block*w.blocks.blockSize:][:w.blocks.blockSize]; !c.is(h.node, nil, got) {
			t.Fatalf("block %d holds %v, is known for %d", block, got, c.tokensOf(h.node))
		}
		if parent := c.nodes[c.nodes[h.node].parent]; parent.parent != 0 && parent.block == noBlock {
			t.Fatalf("block %d goes on from a beginning that is lost", block)
		}
	}
	checkNodes(t, c, holders)
}

// checkNodes: what is known is what blocks hold or lost beginnings of that, roots are
// those of what is known, and each node is one of these or was forgotten.
func checkNodes(t fataler, c *prefixCache, holders map[uint32]int) {
	t.Helper()
	children, known := map[uint32]int{}, knownNodes(c)
	for _, node := range known {
		children[c.nodes[node].parent]++
	}
	for _, node := range known {
		n := c.nodes[node]
		if ring := ringOf(c, node); len(ring) != holders[node] || int(n.children) != children[node] || len(ring)+children[node] == 0 {
			t.Fatalf("a prefix lists blocks %v, %d hold it; it counts %d children of %d", ring, holders[node], n.children, children[node])
		}
	}
	for salt, node := range c.roots {
		if n := c.nodes[node]; n.parent != 0 || n.children == 0 || int(n.children) != children[node] || c.salts[node] != salt {
			t.Fatalf("root %q (%q) counts %d children of %d", salt, c.salts[node], n.children, children[node])
		}
	}
	unused := 0
	for node := c.unused; node != 0; node = c.nodes[node].next {
		unused++
	}
	if listed := len(listedNodes(c)); listed != c.listed || len(c.salts) != len(c.roots) || 1+len(known)+len(c.roots)+unused != len(c.nodes) {
		t.Fatalf("%d nodes: %d known, %d listed (counted %d), %d roots (%d salts), %d unused", len(c.nodes), len(known), listed, c.listed, len(c.roots), len(c.salts), unused)
	}
}

// knownNodes are all prefixes: those that are listed and those that their parents know.
func knownNodes(c *prefixCache) []uint32 {
	nodes := listedNodes(c)
	for _, n := range c.nodes {
		if n.child != 0 {
			nodes = append(nodes, n.child)
		}
	}
	return nodes
}

func listedNodes(c *prefixCache) (nodes []uint32) {
	for _, node := range c.buckets {
		for ; node != 0; node = c.nodes[node].next {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// ringOf is the blocks that hold a prefix, the oldest first.
func ringOf(c *prefixCache, node uint32) (blocks []int) {
	first := c.nodes[node].block
	for b := first; b != noBlock && (len(blocks) == 0 || b != first) && len(blocks) <= len(c.holds); b = c.holds[b].next {
		blocks = append(blocks, int(b))
	}
	return blocks
}
