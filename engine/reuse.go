package engine

// keep notes what the full blocks of a sequence hold, so that later sequences can
// take them. Only tokens that are sure count: guesses lie behind them.
func (b *BlockManager) keep(q *Sequence) {
	if b.cache == nil {
		return
	}
	for full := min(q.computed, q.Len()) / b.blockSize; q.kept < full; q.kept++ {
		if q.chain == nil {
			q.chain = b.cache.root(q.Salt)
		}
		if q.chain.gone {
			return // forgotten: what goes on from it could not be found
		}
		q.chain = b.cache.add(q.blocks[q.kept], q.chain, b.tokens(q, q.kept))
	}
}

// known returns the blocks that hold the beginning of a sequence, as far as it is
// known, and the prefix that they are. The last token is never among them: it must
// be computed for the token after it.
func (b *BlockManager) known(q *Sequence) (blocks []int, last *prefix) {
	if b.cache == nil {
		return nil, nil
	}
	at := b.cache.root(q.Salt)
	for i := range (q.Len() - 1) / b.blockSize {
		at = b.cache.find(at, b.tokens(q, i))
		if at == nil || len(at.blocks) == 0 {
			break
		}
		blocks, last = append(blocks, at.blocks[0]), at
	}
	return blocks, last
}

// tokens is those of a sequence's block i; valid until the next call.
func (b *BlockManager) tokens(q *Sequence, i int) []int {
	b.scratch = q.tokens(b.scratch[:0], i*b.blockSize, (i+1)*b.blockSize)
	return b.scratch
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
