package engine

import (
	"encoding/binary"
	"hash/maphash"
)

// prefixCache finds the blocks that hold a prefix: a run of tokens from the beginning
// of sequences, a whole number of blocks long, which is its parent's tokens and those
// of one more block. There is one node for each prefix that is known, however many
// blocks hold it, so that the same parent and the same tokens mean the same node.
//
// Most prefixes go on in one way only, so a node knows its first child and that needs no
// search: following a prompt reads each node and its tokens, and nothing else. Other
// children are listed by hash. The hash narrows the search, the tokens and the parent
// decide: a collision costs a comparison and is never a wrong hit, and no result depends
// on the seed. A node is forgotten with its last block, once nothing goes on from it
// either.
//
// Nothing is allocated for a block: nodes lie in one array, their tokens in another,
// both grow with what is known and are used again, and links are indices.
type prefixCache struct {
	hash    func([]byte) uint64 // seeded anew in each process, so that no client can aim at a collision
	nodes   []prefixNode        // 0 is none
	tokens  []uint32            // by node: those of its last block; ids are smaller than the vocabulary
	unused  uint32              // first of the forgotten nodes
	buckets []uint32            // by the low bits of the hash: the first node; a power of two
	listed  int                 // nodes in buckets
	holds   []holder            // by block
	roots   map[string]uint32   // by salt
	salts   map[uint32]string   // by root
	key     []byte              // scratch: a parent and the tokens of a block
}

// prefixNode is a prefix, or a root: the prefix of no tokens, one a salt.
type prefixNode struct {
	parent     uint32 // 0: a root
	children   uint32 // nodes that go on from here,
	child      uint32 // and the one that is not listed by hash; 0: none
	hash       uint32 // of the parent and the tokens, if it is listed
	next       uint32 // in the bucket, or of the forgotten nodes
	block      uint32 // the first that holds it, which is given out; noBlock: none does
	generation uint32 // how often the node has been forgotten
	_          uint32 // so that none lies across two cache lines
}

// holder is a block's place among those that hold the same prefix. They form a ring,
// the oldest follows the newest.
type holder struct{ node, next, prev uint32 }

// prefix names a node. Once that is forgotten it may stand for other tokens: the
// generation tells. The zero value names none.
type prefix struct{ node, generation uint32 }

const (
	noBlock   = ^uint32(0)
	tokenSize = 4 // bytes
)

func newPrefixCache(numBlocks, blockSize int) *prefixCache {
	seed := maphash.MakeSeed()
	return &prefixCache{
		hash:    func(b []byte) uint64 { return maphash.Bytes(seed, b) },
		nodes:   []prefixNode{{block: noBlock}},
		buckets: make([]uint32, 1),
		holds:   make([]holder, numBlocks),
		roots:   make(map[string]uint32),
		salts:   make(map[uint32]string),
		key:     make([]byte, (1+blockSize)*tokenSize),
	}
}

// keeps reports whether it is known what a block holds.
func (c *prefixCache) keeps(block int) bool { return c.holds[block].node != 0 }

// gone reports whether a prefix has been forgotten.
func (c *prefixCache) gone(p prefix) bool { return c.nodes[p.node].generation != p.generation }

func (c *prefixCache) name(node uint32) prefix { return prefix{node, c.nodes[node].generation} }

// root is where the prefixes of a salt begin. Something must go on from a new one, or
// it would not be forgotten.
func (c *prefixCache) root(salt string) uint32 {
	if n, ok := c.roots[salt]; ok {
		return n
	}
	n := c.newNode()
	c.nodes[n].parent = 0
	c.roots[salt], c.salts[n] = n, salt
	return n
}

// find is the node of a parent and one block of tokens, 0 if it is not known. The
// tokens come in two runs.
func (c *prefixCache) find(parent uint32, tokens, more []int) uint32 {
	p := &c.nodes[parent]
	listed := p.children
	if p.child != 0 {
		if c.is(p.child, tokens, more) {
			return p.child
		}
		listed--
	}
	if listed == 0 {
		return 0
	}
	return c.lookup(parent, tokens, more)
}

// is reports whether the tokens of a node's last block are these.
func (c *prefixCache) is(node uint32, tokens, more []int) bool {
	have := c.tokensOf(node)
	return begins(have, tokens) && begins(have[len(tokens):], more)
}

func begins(have []uint32, tokens []int) bool {
	have = have[:len(tokens)]
	for i, t := range tokens {
		if have[i] != uint32(t) {
			return false
		}
	}
	return true
}

// lookup finds a node that is listed.
func (c *prefixCache) lookup(parent uint32, tokens, more []int) uint32 {
	hash := c.hashed(parent, tokens, more)
	n := *c.bucket(hash)
	for n != 0 && !(c.nodes[n].hash == hash && c.nodes[n].parent == parent && c.is(n, tokens, more)) {
		n = c.nodes[n].next
	}
	return n
}

// hashed is the hash of a parent and tokens.
func (c *prefixCache) hashed(parent uint32, tokens, more []int) uint32 {
	binary.LittleEndian.PutUint32(c.key, parent)
	rest := putTokens(c.key[tokenSize:], tokens)
	putTokens(rest, more)
	return uint32(c.hash(c.key))
}

func putTokens(to []byte, tokens []int) (rest []byte) {
	for _, t := range tokens {
		binary.LittleEndian.PutUint32(to, uint32(t))
		to = to[tokenSize:]
	}
	return to
}

func (c *prefixCache) bucket(hash uint32) *uint32 { return &c.buckets[int(hash)&(len(c.buckets)-1)] }

// tokensOf is the tokens of a node's last block.
func (c *prefixCache) tokensOf(node uint32) []uint32 {
	size := c.blockSize()
	return c.tokens[int(node)*size:][:size]
}

func (c *prefixCache) blockSize() int { return len(c.key)/tokenSize - 1 }

// add notes that a block, which holds nothing known yet, holds the tokens after a
// parent, and returns that node.
func (c *prefixCache) add(block int, parent uint32, tokens, more []int) uint32 {
	if c.keeps(block) {
		panic("engine: a block's prefix is set once")
	}
	n := c.find(parent, tokens, more)
	if n == 0 {
		n = c.newNode()
		c.nodes[n].parent = parent
		c.write(n, tokens, more)
		c.adopt(parent, n, tokens, more)
	}
	c.hold(block, n)
	return n
}

func (c *prefixCache) write(node uint32, tokens, more []int) {
	to := c.tokensOf(node)
	for i, t := range tokens {
		to[i] = uint32(t)
	}
	to = to[len(tokens):]
	for i, t := range more {
		to[i] = uint32(t)
	}
}

// adopt makes a new node be found from its parent.
func (c *prefixCache) adopt(parent, node uint32, tokens, more []int) {
	p := &c.nodes[parent]
	p.children++
	if p.child == 0 {
		p.child = node
		return
	}
	c.list(node, c.hashed(parent, tokens, more))
}

// abandon is the opposite of adopt.
func (c *prefixCache) abandon(parent, node uint32) {
	p := &c.nodes[parent]
	p.children--
	if p.child == node {
		p.child = 0
		return
	}
	c.unlist(node)
}

// hold puts a block behind the others that hold a prefix.
func (c *prefixCache) hold(block int, node uint32) {
	b, n := uint32(block), &c.nodes[node]
	if n.block == noBlock {
		n.block = b
		c.holds[b] = holder{node, b, b}
		return
	}
	last := c.holds[n.block].prev
	c.holds[b] = holder{node, n.block, last}
	c.holds[last].next, c.holds[n.block].prev = b, b
}

// drop forgets what a block holds.
func (c *prefixCache) drop(block int) {
	h := c.holds[block]
	if h.node == 0 {
		return
	}
	c.holds[block] = holder{}
	n, b := &c.nodes[h.node], uint32(block)
	if h.next == b {
		n.block = noBlock
		c.prune(h.node)
		return
	}
	c.holds[h.prev].next, c.holds[h.next].prev = h.next, h.prev
	if n.block == b {
		n.block = h.next
	}
}

// prune forgets a node that no block holds and nothing goes on from, and then its parent likewise.
func (c *prefixCache) prune(node uint32) {
	for c.nodes[node].block == noBlock && c.nodes[node].children == 0 {
		parent := c.nodes[node].parent
		if parent == 0 {
			delete(c.roots, c.salts[node])
			delete(c.salts, node)
			c.forget(node)
			return
		}
		c.abandon(parent, node)
		c.forget(node)
		node = parent
	}
}
