package engine

import "fmt"

// BlockManager hands out the blocks of a paged KV cache. A block holds the keys
// and values of blockSize consecutive tokens of a sequence. Blocks are counted by
// reference: several block tables may hold the same one. It is not safe for
// concurrent use; the engine's loop owns it.
//
// Prefix caching would find full blocks by the hash of their tokens here: a hit
// is Shared instead of allocated, and a released block keeps its hash until it
// is allocated again. The free list is a queue, and tables are released from
// their end, so that the beginning of a sequence would survive longest.
type BlockManager struct {
	blockSize int
	refs      []int32 // by block: how many tables hold it
	free      []int   // ring buffer of the blocks with no reference
	head      int     // of the ring: the next to allocate
	count     int     // in the ring
}

// NewBlockManager manages numBlocks blocks (numbered from 0) of blockSize tokens, all free.
func NewBlockManager(numBlocks, blockSize int) *BlockManager {
	b := &BlockManager{blockSize: blockSize, refs: make([]int32, numBlocks), free: make([]int, numBlocks), count: numBlocks}
	for i := range b.free {
		b.free[i] = i
	}
	return b
}

// Total is the number of blocks.
func (b *BlockManager) Total() int { return len(b.refs) }

// Free is the number of blocks that no table holds.
func (b *BlockManager) Free() int { return b.count }

// Used is the number of blocks that some table holds.
func (b *BlockManager) Used() int { return len(b.refs) - b.count }

// Capacity is the number of tokens that fit into all blocks.
func (b *BlockManager) Capacity() int { return len(b.refs) * b.blockSize }

// BlocksFor is the number of blocks that hold so many tokens.
func (b *BlockManager) BlocksFor(tokens int) int { return (tokens + b.blockSize - 1) / b.blockSize }

// Grow extends a block table so that it holds so many tokens. When there are not
// enough free blocks, ok is false and nothing has changed.
func (b *BlockManager) Grow(table []int, tokens int) (grown []int, ok bool) {
	need := b.BlocksFor(tokens) - len(table)
	if need > b.count {
		return table, false
	}
	for range max(0, need) {
		table = append(table, b.pop())
	}
	return table, true
}

// Share adds a reference to each block of a table, for a second table that holds
// the same blocks. Sharing a free block is a programming error and panics.
func (b *BlockManager) Share(table []int) {
	for _, block := range table {
		if b.refs[block] == 0 {
			panic(fmt.Sprintf("engine: sharing block %d, which is free", block))
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
		if b.refs[block]--; b.refs[block] == 0 {
			b.push(block)
		}
	}
}

func (b *BlockManager) pop() int {
	block := b.free[b.head]
	b.head = (b.head + 1) % len(b.free)
	b.count--
	b.refs[block] = 1
	return block
}

func (b *BlockManager) push(block int) {
	b.free[(b.head+b.count)%len(b.free)] = block
	b.count++
}
