package twin

import (
	"testing"

	"pgregory.net/rapid"
)

// Lists have room for what was asked for and not much more, nobody else has them, and what is kept
// for later is bounded.
func TestBuffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b buffers
		var lent [][]int
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				n := rapid.IntRange(0, 1<<21).Draw(t, "tokens")
				list := b.take(n)
				if len(list) != 0 || cap(list) < n || cap(list) > 2*max(n, leastBuffer) {
					t.Fatalf("a list of %d with room for %d, for %d tokens", len(list), cap(list), n)
				}
				for _, other := range lent {
					if &other[:1][0] == &list[:1][0] {
						t.Fatal("lent twice")
					}
				}
				lent = append(lent, append(list, 1))
			},
			"give": func(t *rapid.T) {
				if len(lent) == 0 {
					t.Skip("nothing is lent")
				}
				last := len(lent) - 1
				b.give(lent[last])
				lent = lent[:last]
			},
			"": func(t *rapid.T) {
				spare := 0
				for _, lists := range b.free {
					for _, list := range lists {
						spare += cap(list)
					}
				}
				if spare != b.spare || spare > maxSpare {
					t.Fatalf("room for %d tokens, counted %d", spare, b.spare)
				}
			},
		})
	})
}
