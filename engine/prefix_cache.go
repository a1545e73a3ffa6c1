package engine

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// prefix is a run of tokens from the beginning of sequences, a whole number of
// blocks long: its parent's tokens and those of one more block. There is one for
// each run that is known, however many blocks hold it, so that the same parent and
// the same tokens mean the same prefix. Roots stand for no tokens, one a salt.
type prefix struct {
	parent   *prefix // nil: a root
	salt     string  // of a root
	hash     uint64  // chained: of the parent's hash and the tokens
	tokens   []int   // of the last block
	blocks   []int   // that hold it; the first is given out
	children int     // prefixes that go on from here
	gone     bool    // forgotten
}

// prefixCache finds the blocks that hold a prefix. The hash narrows the search,
// the tokens and the parent decide: a collision costs a comparison and is never a
// wrong hit. A prefix is forgotten with its last block.
type prefixCache struct {
	hash   func([]byte) uint64 // seeded anew in each process, so that no client can aim at a collision
	roots  map[string]*prefix
	byHash map[uint64][]*prefix
	of     []*prefix // by block: what it holds; nil: nothing that is known
	buf    []byte    // scratch
}

func newPrefixCache(numBlocks int) *prefixCache {
	seed := maphash.MakeSeed()
	return &prefixCache{
		hash:   func(b []byte) uint64 { return maphash.Bytes(seed, b) },
		roots:  make(map[string]*prefix),
		byHash: make(map[uint64][]*prefix),
		of:     make([]*prefix, numBlocks),
	}
}

// root is where the prefixes of a salt begin. It is remembered once something goes on from it.
func (c *prefixCache) root(salt string) *prefix {
	if r := c.roots[salt]; r != nil {
		return r
	}
	return &prefix{salt: salt, hash: c.hash([]byte(salt))}
}

// find is the prefix of a parent and one block of tokens, nil if it is not known.
func (c *prefixCache) find(parent *prefix, tokens []int) *prefix {
	return c.lookup(parent, tokens, c.chain(parent, tokens))
}

func (c *prefixCache) lookup(parent *prefix, tokens []int, hash uint64) *prefix {
	for _, p := range c.byHash[hash] {
		if p.parent == parent && slices.Equal(p.tokens, tokens) {
			return p
		}
	}
	return nil
}

func (c *prefixCache) chain(parent *prefix, tokens []int) uint64 {
	c.buf = binary.LittleEndian.AppendUint64(c.buf[:0], parent.hash)
	for _, t := range tokens {
		c.buf = binary.LittleEndian.AppendUint32(c.buf, uint32(t))
	}
	return c.hash(c.buf)
}

// add notes that a block, which holds nothing known yet, holds the tokens after a
// parent, and returns that prefix.
func (c *prefixCache) add(block int, parent *prefix, tokens []int) *prefix {
	if c.of[block] != nil {
		panic("engine: a block's prefix is set once")
	}
	hash := c.chain(parent, tokens)
	p := c.lookup(parent, tokens, hash)
	if p == nil {
		p = &prefix{parent: parent, hash: hash, tokens: slices.Clone(tokens)}
		c.byHash[hash] = append(c.byHash[hash], p)
		if parent.parent == nil {
			c.roots[parent.salt] = parent
		}
		parent.children++
	}
	p.blocks = append(p.blocks, block)
	c.of[block] = p
	return p
}

// drop forgets what a block holds.
func (c *prefixCache) drop(block int) {
	p := c.of[block]
	if p == nil {
		return
	}
	c.of[block] = nil
	p.blocks = slices.DeleteFunc(p.blocks, func(b int) bool { return b == block })
	c.prune(p)
}

// prune forgets a prefix that no block holds and nothing goes on from, and then its parent likewise.
func (c *prefixCache) prune(p *prefix) {
	for ; len(p.blocks) == 0 && p.children == 0 && !p.gone; p = p.parent {
		p.gone = true
		if p.parent == nil {
			delete(c.roots, p.salt)
			return
		}
		rest := slices.DeleteFunc(c.byHash[p.hash], func(q *prefix) bool { return q == p })
		if c.byHash[p.hash] = rest; len(rest) == 0 {
			delete(c.byHash, p.hash)
		}
		p.parent.children--
	}
}
