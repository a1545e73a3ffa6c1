package engine

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The references of a block are the tables that hold it; free and used blocks are
// disjoint and together all; after everything is released all are free.
func TestBlockManagerKeepsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 20).Draw(t, "blocks")
		b := NewBlockManager(total, rapid.IntRange(1, 5).Draw(t, "size"), false)
		var tables [][]int
		pick := func(t *rapid.T) int {
			if len(tables) == 0 {
				t.Skip("no table")
			}
			return rapid.IntRange(0, len(tables)-1).Draw(t, "table")
		}
		t.Repeat(map[string]func(*rapid.T){
			"new": func(t *rapid.T) { tables = append(tables, nil) },
			"grow": func(t *rapid.T) {
				i, tokens := pick(t), rapid.IntRange(0, 60).Draw(t, "tokens")
				free, need := b.Free(), b.BlocksFor(tokens)-len(tables[i])
				grown, ok := b.Grow(slices.Clone(tables[i]), tokens)
				if ok != (need <= free) || (!ok && len(grown) != len(tables[i])) {
					t.Fatalf("grow by %d blocks with %d free: ok %t, %d blocks", need, free, ok, len(grown))
				}
				tables[i] = grown
			},
			"share": func(t *rapid.T) {
				table := slices.Clone(tables[pick(t)])
				b.Share(table)
				tables = append(tables, table)
			},
			"release": func(t *rapid.T) {
				i := pick(t)
				b.Release(tables[i])
				tables = slices.Delete(tables, i, i+1)
			},
			"": func(t *rapid.T) { checkBlocks(t, b, tables) },
		})
		for _, table := range tables {
			b.Release(table)
		}
		if b.Free() != total {
			t.Fatalf("%d of %d blocks are free at the end", b.Free(), total)
		}
	})
}

func TestBlockManagerPanics(t *testing.T) {
	for name, misuse := range map[string]func(b *BlockManager, table []int){
		"release twice": func(b *BlockManager, table []int) { b.Release(table); b.Release(table) },
		"share a free":  func(b *BlockManager, table []int) { b.Release(table); b.Share(table) },
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBlockManager(4, 16, true)
			table, _ := b.Grow(nil, 1)
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			misuse(b, table)
		})
	}
}
