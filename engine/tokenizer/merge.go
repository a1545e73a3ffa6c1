package tokenizer

import "slices"

const none = -1

// part is a stretch of the text.
type part struct {
	start, end int
	prev, next int   // neighbours, where there are many parts
	id         int32 // its token; none for a character that is no token of its own
}

// rule says which neighbours join: to which token, and how early (a higher score is
// earlier).
type rule interface {
	join(text string, left, right *part) (id int32, score float32, ok bool)
}

// merger joins neighbours, best score first and leftmost among equals, until
// nothing joins. Its memory serves one text after another.
type merger struct {
	rule  rule
	text  string
	parts []part
	queue mergeQueue
}

// begin empties the list for at most n parts.
func (m *merger) begin(n int) {
	if cap(m.parts) < n {
		m.parts = make([]part, 0, n)
	}
	m.parts, m.queue = m.parts[:0], m.queue[:0]
}

// add puts a part at the end of the list.
func (m *merger) add(start, end int, id int32) {
	m.parts = append(m.parts, part{start: start, end: end, id: id})
}

// fewParts is up to where looking through all pairs for the best one is faster than a heap.
const fewParts = 32

// run leaves in parts what does not join any more.
func (m *merger) run() {
	if len(m.parts) <= fewParts {
		m.runFew()
	} else {
		m.runMany()
	}
}

// runFew keeps in queue, for each part, what it makes with the next one; size 0: nothing.
func (m *merger) runFew() {
	parts, joins := m.parts, m.queue[:0]
	for i := range max(0, len(parts)-1) {
		joins = append(joins, m.pair(parts, i))
	}
	for {
		best := none
		for i := range joins {
			if joins[i].size > 0 && (best == none || joins[i].score > joins[best].score) {
				best = i
			}
		}
		if best == none {
			m.parts, m.queue = parts, joins
			return
		}
		parts[best].end, parts[best].id = parts[best+1].end, joins[best].id
		parts = append(parts[:best+1], parts[best+2:]...)
		joins = append(joins[:best], joins[best+1:]...)
		if best > 0 {
			joins[best-1] = m.pair(parts, best-1)
		}
		if best < len(joins) {
			joins[best] = m.pair(parts, best)
		}
	}
}

func (m *merger) pair(parts []part, i int) merge {
	l, r := &parts[i], &parts[i+1]
	if id, score, ok := m.rule.join(m.text, l, r); ok {
		return merge{score: score, id: id, size: r.end - l.start}
	}
	return merge{}
}

// runMany keeps in queue what may join, as a heap.
func (m *merger) runMany() {
	last := len(m.parts) - 1
	for i := range m.parts {
		m.parts[i].prev, m.parts[i].next = i-1, i+1
	}
	m.parts[last].next = none
	for i := range last {
		m.offer(i, i+1)
	}
	for len(m.queue) > 0 {
		best := m.queue.pop()
		l, r := &m.parts[best.left], &m.parts[best.right]
		if l.end == l.start || r.end == r.start || r.end-l.start != best.size {
			continue // a side has changed since
		}
		l.end, l.next, l.id = r.end, r.next, best.id
		r.start = r.end // consumed
		if l.next != none {
			m.parts[l.next].prev = best.left
		}
		m.offer(l.prev, best.left)
		m.offer(best.left, l.next)
	}
	m.parts = slices.DeleteFunc(m.parts, func(p part) bool { return p.start == p.end })
}

// offer queues two neighbours if they join.
func (m *merger) offer(left, right int) {
	if left == none || right == none {
		return
	}
	l, r := &m.parts[left], &m.parts[right]
	if id, score, ok := m.rule.join(m.text, l, r); ok {
		m.queue.push(merge{score, id, left, right, r.end - l.start})
	}
}

// merge is a pair of neighbours that together are a token of size bytes.
type merge struct {
	score       float32
	id          int32
	left, right int
	size        int
}

// before is the order of merging.
func (a *merge) before(b *merge) bool {
	return a.score > b.score || a.score == b.score && a.left < b.left
}

// mergeQueue is a binary heap, the next merge in front. (container/heap would
// allocate for every merge.)
type mergeQueue []merge

func (q *mergeQueue) push(m merge) {
	h := append(*q, m)
	*q = h
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(&h[up]) {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (q *mergeQueue) pop() merge {
	h := *q
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	*q = h
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return first
		}
		if child+1 < last && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&h[i]) {
			return first
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
