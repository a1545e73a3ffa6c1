package engine

// The memory of a prefixCache: its nodes, which are used again, and the buckets that
// list them by hash.

// newNode is a node without blocks and children; what else it is, is for the caller.
func (c *prefixCache) newNode() uint32 {
	if n := c.unused; n != 0 {
		c.unused = c.nodes[n].next
		return n
	}
	if len(c.nodes) == cap(c.nodes) {
		c.enlarge()
	}
	c.nodes = append(c.nodes, prefixNode{block: noBlock})
	return uint32(len(c.nodes) - 1)
}

// enlarge makes room for more nodes: twice as many, until there is one for each block,
// none and a root. That is enough as a rule; salts and lost beginnings need more.
func (c *prefixCache) enlarge() {
	n, rule := len(c.nodes), len(c.holds)+2
	room := min(2*n, rule)
	if n >= rule {
		room = n + n/8 + 1
	}
	c.nodes = append(make([]prefixNode, 0, room), c.nodes...)
	c.tokens = append(make([]uint32, 0, room*c.blockSize()), c.tokens...)[:room*c.blockSize()]
}

// forget leaves a node, which has no blocks and children and is not listed, to be used
// again. Those who name it can see that it has gone.
func (c *prefixCache) forget(node uint32) {
	n := &c.nodes[node]
	n.generation++
	n.next, c.unused = c.unused, node
}

// list makes a node be found by its hash, beside its parent's first child.
func (c *prefixCache) list(node, hash uint32) {
	if c.listed++; 2*c.listed > len(c.buckets) { // then most searches for what is not known read no node
		c.widen()
	}
	n, first := &c.nodes[node], c.bucket(hash)
	n.hash, n.next = hash, *first
	*first = node
}

// unlist is the opposite of list.
func (c *prefixCache) unlist(node uint32) {
	n := &c.nodes[node]
	at := c.bucket(n.hash)
	for *at != node {
		at = &c.nodes[*at].next
	}
	*at = n.next
	c.listed--
}

// widen doubles the buckets.
func (c *prefixCache) widen() {
	old := c.buckets
	c.buckets = make([]uint32, 2*len(old))
	for _, node := range old {
		for node != 0 {
			n := &c.nodes[node]
			next, first := n.next, c.bucket(n.hash)
			n.next, *first = *first, node
			node = next
		}
	}
}
