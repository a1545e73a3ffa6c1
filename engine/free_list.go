package engine

// freeList is the blocks that no table holds, the next to allocate in front. Links
// lie in arrays by block, so that a block leaves the middle in constant time when a
// prefix it keeps is wanted again.
type freeList struct {
	next, prev []int // by block; the last index is the list's own head and tail
	count      int
}

// newFreeList holds the blocks 0…n-1 in order.
func newFreeList(n int) freeList {
	f := freeList{next: make([]int, n+1), prev: make([]int, n+1)}
	f.next[n], f.prev[n] = n, n
	for block := range n {
		f.pushBack(block)
	}
	return f
}

func (f *freeList) end() int { return len(f.next) - 1 }

func (f *freeList) pushBack(block int)  { f.insert(block, f.prev[f.end()]) }
func (f *freeList) pushFront(block int) { f.insert(block, f.end()) }

// insert puts a block behind another.
func (f *freeList) insert(block, behind int) {
	after := f.next[behind]
	f.next[behind], f.prev[after] = block, block
	f.prev[block], f.next[block] = behind, after
	f.count++
}

// popFront takes the first block; the list must not be empty.
func (f *freeList) popFront() int {
	block := f.next[f.end()]
	f.remove(block)
	return block
}

// remove takes a block that is in the list out of it.
func (f *freeList) remove(block int) {
	before, after := f.prev[block], f.next[block]
	f.next[before], f.prev[after] = after, before
	f.count--
}
