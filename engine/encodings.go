package engine

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// Bounds of the encodings that are kept: some 8 MB.
const (
	keptTokens    = 1 << 20
	encodingCosts = 32 // of an entry beside its tokens, in tokens
)

// encodings keeps the tokens of recent texts, the last used ones: system prompts and
// the earlier messages of a chat come again and again. Texts themselves are not kept.
// A nil *encodings keeps nothing.
type encodings struct {
	mu    sync.Mutex
	most  int // tokens
	used  int
	byKey map[encodingKey]*list.Element
	order *list.List // of *encoding, the last used in front
}

// encodingKey names a text without telling it.
type encodingKey struct {
	hash    [sha256.Size]byte
	special bool
}

type encoding struct {
	key encodingKey
	ids []int
}

func (e *encoding) cost() int { return len(e.ids) + encodingCosts }

func newEncodings(most int) *encodings {
	return &encodings{most: most, byKey: map[encodingKey]*list.Element{}, order: list.New()}
}

func (c *encodings) find(key encodingKey) ([]int, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*encoding).ids, true
}

// keep takes an encoding in and drops those that were not used for longest. One that
// would push out most of the others is not taken.
func (c *encodings) keep(key encodingKey, ids []int) {
	added := &encoding{key, ids}
	if c == nil || added.cost() > c.most/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, twice := c.byKey[key]; twice {
		return // two requests have encoded it at once
	}
	c.byKey[key] = c.order.PushFront(added)
	c.used += added.cost()
	for c.used > c.most {
		last := c.order.Remove(c.order.Back()).(*encoding)
		delete(c.byKey, last.key)
		c.used -= last.cost()
	}
}
