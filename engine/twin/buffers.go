package twin

import "math/bits"

// buffers lends lists for tokens, of prompts and of answers. Were they left to the jobs, each job
// would come to have room for the longest prompt there ever was; so they are taken for a length
// and given back. Capacities are powers of two.
type buffers struct {
	free  [bits.UintSize][][]int // by the logarithm of their capacity
	spare int                    // tokens that fit into those
}

// Lists are not smaller than the one, and no more is kept than for the other: after a long
// queue has gone the rest is garbage.
const (
	leastBuffer = 64
	maxSpare    = maxHeld / 8
)

// take is an empty list for so many tokens.
func (b *buffers) take(tokens int) []int {
	class := bits.Len(uint(max(tokens, leastBuffer) - 1))
	free := b.free[class]
	if n := len(free) - 1; n >= 0 {
		list := free[n]
		free[n], b.free[class] = nil, free[:n]
		b.spare -= cap(list)
		return list
	}
	return make([]int, 0, 1<<class)
}

// give takes back what was lent; nil is nothing.
func (b *buffers) give(list []int) {
	if cap(list) == 0 || b.spare+cap(list) > maxSpare {
		return
	}
	class := bits.Len(uint(cap(list))) - 1
	b.free[class] = append(b.free[class], list[:0])
	b.spare += cap(list)
}
