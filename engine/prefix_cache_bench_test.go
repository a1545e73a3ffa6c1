package engine

import (
	"fmt"
	"testing"
	"unsafe"
)

// What a block costs from its allocation, which forgets what it held, until it is
// given up and keeps something new; and the memory that this takes beside the tokens.
func BenchmarkPrefixCache(b *testing.B) {
	const blockSize, blocks = 16, 40
	for _, total := range []int{512, 80_000, 1_000_000} {
		b.Run(fmt.Sprint(total), func(b *testing.B) {
			m := NewBlockManager(total, blockSize, true)
			q := &Sequence{Prompt: make([]int, blocks*blockSize), computed: blocks * blockSize}
			entered := 0
			pass := func() {
				entered++
				q.Prompt[0] = entered // all that follows is another prefix, then
				q.blocks, _ = m.Grow(q.blocks[:0], len(q.Prompt))
				m.keep(q)
				m.Release(q.blocks)
				q.kept, q.chain = 0, prefix{}
			}
			for range 2 * total / blocks {
				pass()
			}
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; n += blocks {
				pass()
			}
			b.ReportMetric(float64(cacheBytes(m)-len(m.cache.tokens)*tokenSize)/float64(total), "bytes/block")
		})
	}
}

// cacheBytes is the memory of a block manager.
func cacheBytes(m *BlockManager) int {
	c := m.cache
	return cap(m.refs)*4 + cap(m.free.links)*int(unsafe.Sizeof(link{})) + cap(c.nodes)*int(unsafe.Sizeof(prefixNode{})) +
		cap(c.tokens)*tokenSize + cap(c.buckets)*4 + cap(c.holds)*int(unsafe.Sizeof(holder{}))
}
