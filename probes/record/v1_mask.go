package record

// A mask says which slots of a vector changed, one bit each, low bit first.
// Masks of long vectors are mostly zero bytes once XORed with the mask before,
// so they are written as a tree: a level's non-zero bytes, preceded by the mask
// of which bytes those are, until a level fits in two bytes.

// maskTree reads a tree of n bytes from c into m.
func (c *cursor) maskTree(m []byte) {
	if len(m) <= 2 {
		copy(m, c.take(len(m)))
		return
	}
	up := make([]byte, (len(m)+7)/8)
	c.maskTree(up)
	for i := range m {
		if up[i/8]&(1<<(i%8)) != 0 {
			m[i] = c.byte()
		}
	}
}
