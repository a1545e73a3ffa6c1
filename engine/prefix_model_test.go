package engine

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// modelPrefix is a prefix as plainly as it can be put.
type modelPrefix struct {
	parent   *modelPrefix
	path     string // salt and all tokens
	blocks   []int
	children int
	name     prefix
	gone     bool
}

// modelCache is what prefixCache must do, by path.
type modelCache struct {
	byPath map[string]*modelPrefix
	of     map[int]*modelPrefix
}

func (m *modelCache) add(block int, parent *modelPrefix, token int) *modelPrefix {
	path := fmt.Sprint(parent.path, "/", token)
	p := m.byPath[path]
	if p == nil {
		p = &modelPrefix{parent: parent, path: path}
		m.byPath[path] = p
		m.byPath[parent.path] = parent // a root is known from its first child on
		parent.children++
	}
	p.blocks = append(p.blocks, block)
	m.of[block] = p
	return p
}

func (m *modelCache) drop(block int) {
	p := m.of[block]
	if p == nil {
		return
	}
	delete(m.of, block)
	p.blocks = slices.DeleteFunc(p.blocks, func(b int) bool { return b == block })
	for ; p != nil && len(p.blocks) == 0 && p.children == 0; p = p.parent {
		p.gone = true
		delete(m.byPath, p.path)
		if p.parent != nil {
			p.parent.children--
		}
	}
}

// Blocks that are added to random prefixes and dropped in random order, beginnings
// before what goes on from them as well, are found as the model says, with a good hash
// and with one that collides. Names of what was forgotten are seen through.
func TestPrefixCacheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const blocks = 12
		c, m := newPrefixCache(blocks, 1), modelCache{map[string]*modelPrefix{}, map[int]*modelPrefix{}}
		if bits := rapid.SampledFrom([]uint64{0, 3, ^uint64(0)}).Draw(t, "bits"); bits != ^uint64(0) {
			hash := c.hash
			c.hash = func(b []byte) uint64 { return hash(b) & bits }
		}
		var all []*modelPrefix // that ever were, roots left out
		block := rapid.IntRange(0, blocks-1)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				b, token := block.Draw(t, "block"), rapid.IntRange(0, 2).Draw(t, "token")
				if c.keeps(b) {
					t.Skip("it holds something")
				}
				var at *modelPrefix
				var node uint32
				if n := rapid.IntRange(-2, len(all)-1).Draw(t, "parent"); n < 0 {
					salt := []string{"", "a"}[-1-n]
					if at = m.byPath[salt]; at == nil {
						at = &modelPrefix{path: salt}
					}
					node = c.root(salt)
				} else if at, node = all[n], all[n].name.node; at.gone {
					t.Skip("nothing can go on from it")
				}
				p := m.add(b, at, token)
				p.name = c.name(c.add(b, node, []int{token}, nil))
				if !slices.Contains(all, p) {
					all = append(all, p)
				}
			},
			"drop": func(t *rapid.T) { b := block.Draw(t, "block"); c.drop(b); m.drop(b) },
			"": func(t *rapid.T) {
				holders := map[uint32]int{}
				for _, h := range c.holds {
					if h.node != 0 {
						holders[h.node]++
					}
				}
				checkNodes(t, c, holders)
				for _, p := range all {
					checkModel(t, c, p)
				}
			},
		})
	})
}

func checkModel(t fataler, c *prefixCache, p *modelPrefix) {
	t.Helper()
	if c.gone(p.name) != p.gone {
		t.Fatalf("%s: gone %t, want %t", p.path, c.gone(p.name), p.gone)
	}
	if p.gone {
		return
	}
	var token int
	fmt.Sscan(p.path[len(p.parent.path)+1:], &token)
	parent := p.parent.name.node
	if p.parent.parent == nil {
		parent = c.roots[p.parent.path]
	}
	if got := c.find(parent, nil, []int{token}); got != p.name.node || !slices.Equal(ringOf(c, got), p.blocks) {
		t.Fatalf("%s: node %d with blocks %v, want %d with %v", p.path, got, ringOf(c, got), p.name.node, p.blocks)
	}
}
