package engine

// freeList is the blocks that no table holds, the next to allocate in front. Links
// lie in an array by block, so that a block leaves the middle in constant time when a
// prefix it keeps is wanted again.
type freeList struct {
	links []link // by block; the last one is the list's own head and tail
	count int
}

type link struct{ next, prev uint32 }

// newFreeList holds the blocks 0…n-1 in order.
func newFreeList(n int) freeList {
	f := freeList{links: make([]link, n+1)}
	f.links[n] = link{f.end(), f.end()}
	for block := range n {
		f.pushBack(block)
	}
	return f
}

func (f *freeList) end() uint32 { return uint32(len(f.links) - 1) }

func (f *freeList) pushBack(block int)  { f.insert(uint32(block), f.links[f.end()].prev) }
func (f *freeList) pushFront(block int) { f.insert(uint32(block), f.end()) }

// insert puts a block behind another.
func (f *freeList) insert(block, behind uint32) {
	after := f.links[behind].next
	f.links[block] = link{after, behind}
	f.links[behind].next, f.links[after].prev = block, block
	f.count++
}

// popFront takes the first block; the list must not be empty.
func (f *freeList) popFront() int {
	block := int(f.links[f.end()].next)
	f.remove(block)
	return block
}

// remove takes a block that is in the list out of it.
func (f *freeList) remove(block int) {
	at := f.links[block]
	f.links[at.prev].next, f.links[at.next].prev = at.next, at.prev
	f.count--
}
