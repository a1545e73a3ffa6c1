package twin

import "llmtop/engine"

// withheld is the part of the blocks that a smaller KV cache does not have: a block table
// that no sequence owns. When the cache shrinks it takes blocks as they become free, as
// long as it wants more; when it grows it gives them back.
type withheld struct {
	table  []int
	wanted int
}

func (w *withheld) want(blocks int) { w.wanted = max(0, blocks) }

// settle takes or gives back blocks. It is called before each step.
func (w *withheld) settle(b *engine.BlockManager) {
	switch have := len(w.table); {
	case have < w.wanted:
		n := min(w.wanted-have, b.Free())
		w.table, _ = b.Grow(w.table, (have+n)*b.Capacity()/b.Total()) // that many tokens fill them
	case have > w.wanted:
		b.Release(w.table[w.wanted:])
		w.table = w.table[:w.wanted]
	}
}
