package engine

// keep notes what the full blocks of a sequence hold, so that later sequences can
// take them. Only tokens that are sure count: guesses lie behind them.
func (b *BlockManager) keep(q *Sequence) {
	if (q.kept+1)*b.blockSize <= q.computed && b.cache != nil {
		b.keepFull(q)
	}
}

func (b *BlockManager) keepFull(q *Sequence) {
	for full := min(q.computed, q.Len()) / b.blockSize; q.kept < full; q.kept++ {
		at := q.chain
		if q.kept == 0 {
			at = b.cache.name(b.cache.root(q.Salt))
		}
		if b.cache.gone(at) {
			return // forgotten: what goes on from it could not be found
		}
		tokens, more := b.tokens(q, q.kept)
		q.chain = b.cache.name(b.cache.add(q.blocks[q.kept], at.node, tokens, more))
	}
}

// known returns the blocks that hold the beginning of a sequence, as far as it is
// known, and the prefix that they are. The last token is never among them: it must
// be computed for the token after it. The blocks are valid until the next call.
func (b *BlockManager) known(q *Sequence) (blocks []int, last prefix) {
	if b.cache == nil {
		return nil, prefix{}
	}
	at := b.cache.roots[q.Salt]
	b.found = b.found[:0]
	for i := 0; at != 0 && i < (q.Len()-1)/b.blockSize; i++ {
		tokens, more := b.tokens(q, i)
		at = b.cache.find(at, tokens, more)
		block := b.cache.nodes[at].block
		if block == noBlock {
			break
		}
		b.found, last = append(b.found, int(block)), b.cache.name(at)
	}
	return b.found, last
}

// tokens is those of a sequence's block i: of the prompt, and more that were generated.
func (b *BlockManager) tokens(q *Sequence, i int) (tokens, more []int) {
	n, from, to := len(q.Prompt), i*b.blockSize, (i+1)*b.blockSize
	return q.Prompt[min(from, n):min(to, n)], q.Output[max(from-n, 0):max(to-n, 0)]
}

// unheld is how many blocks of a table are free: taking them takes from what is free.
func (b *BlockManager) unheld(table []int) (n int) {
	for _, block := range table {
		if b.refs[block] == 0 {
			n++
		}
	}
	return n
}

// freed is how many blocks of a table nobody else holds and that are not to be
// reused (which would be at the same place of the table): releasing it gains so many.
func (b *BlockManager) freed(table, reused []int) (n int) {
	for i, block := range table {
		if b.refs[block] == 1 && (i >= len(reused) || reused[i] != block) {
			n++
		}
	}
	return n
}
