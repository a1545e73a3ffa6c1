package engine

import (
	"fmt"
	"slices"
)

// BlockManager hands out the blocks of a paged KV cache. A block holds the keys
// and values of blockSize consecutive tokens of a sequence. Blocks are counted by
// reference: several block tables may hold the same one. It is not safe for
// concurrent use; the engine's loop owns it.
//
// With prefix caching a full block keeps what it holds after its last table has let
// go, until the block is allocated again: a later sequence that begins alike takes
// it back. Blocks are allocated from the front of the free list. Empty blocks are
// put there; those that keep a prefix go to its end, the last of a table first, so
// that what was used longest ago is lost first and no beginning before what goes on
// from it (the order of vLLM V1).
type BlockManager struct {
	blockSize int
	refs      []int32 // by block: how many tables hold it
	free      freeList
	cached    int          // free blocks that keep a prefix
	cache     *prefixCache // nil: no prefix caching
	found     []int        // scratch of known
}

// NewBlockManager manages numBlocks blocks (numbered from 0) of blockSize tokens,
// all free and empty.
func NewBlockManager(numBlocks, blockSize int, prefixCaching bool) *BlockManager {
	b := &BlockManager{blockSize: blockSize, refs: make([]int32, numBlocks), free: newFreeList(numBlocks)}
	if prefixCaching {
		b.cache = newPrefixCache(numBlocks, blockSize)
	}
	return b
}

// Total is the number of blocks.
func (b *BlockManager) Total() int { return len(b.refs) }

// Free is the number of blocks that no table holds, those that keep a prefix included.
func (b *BlockManager) Free() int { return b.free.count }

// Cached is the number of free blocks that keep a prefix.
func (b *BlockManager) Cached() int { return b.cached }

// Used is the number of blocks that some table holds.
func (b *BlockManager) Used() int { return len(b.refs) - b.free.count }

// Capacity is the number of tokens that fit into all blocks.
func (b *BlockManager) Capacity() int { return len(b.refs) * b.blockSize }

// BlocksFor is the number of blocks that hold so many tokens.
func (b *BlockManager) BlocksFor(tokens int) int { return (tokens + b.blockSize - 1) / b.blockSize }

// Grow extends a block table so that it holds so many tokens. When there are not
// enough free blocks, ok is false and nothing has changed.
func (b *BlockManager) Grow(table []int, tokens int) (grown []int, ok bool) {
	if tokens <= len(table)*b.blockSize {
		return table, true // as for most of the tokens that are generated
	}
	need := b.BlocksFor(tokens) - len(table)
	if need > b.free.count {
		return table, false
	}
	table = slices.Grow(table, need)
	for range need {
		table = append(table, b.allocate())
	}
	return table, true
}

func (b *BlockManager) allocate() int {
	block := b.free.popFront()
	if b.keeps(block) {
		b.cached--
		b.cache.drop(block)
	}
	b.refs[block] = 1
	return block
}

// Share adds a reference to each block of a table, for a second table that holds
// the same blocks. A free block leaves the free list; it must keep a prefix, or
// sharing it is a programming error and panics.
func (b *BlockManager) Share(table []int) {
	for _, block := range table {
		if b.refs[block] == 0 {
			if !b.keeps(block) {
				panic(fmt.Sprintf("engine: sharing block %d, which is free and empty", block))
			}
			b.free.remove(block)
			b.cached--
		}
		b.refs[block]++
	}
}

// Release gives up a table's references, last block first. Releasing a block that
// is free already is a programming error and panics.
func (b *BlockManager) Release(table []int) {
	for i := len(table) - 1; i >= 0; i-- {
		block := table[i]
		if b.refs[block] == 0 {
			panic(fmt.Sprintf("engine: block %d released twice", block))
		}
		if b.refs[block]--; b.refs[block] > 0 {
			continue
		}
		if b.keeps(block) {
			b.free.pushBack(block)
			b.cached++
		} else {
			b.free.pushFront(block)
		}
	}
}

// Forget makes the blocks of a table, which the caller holds, keep nothing: what
// was computed into them is not to be trusted.
func (b *BlockManager) Forget(table []int) {
	if b.cache == nil {
		return
	}
	for _, block := range table {
		b.cache.drop(block)
	}
}

func (b *BlockManager) keeps(block int) bool { return b.cache != nil && b.cache.keeps(block) }
