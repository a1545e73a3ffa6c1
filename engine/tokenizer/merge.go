package tokenizer

import "unicode/utf8"

const none = -1

// part is a stretch of the text; the parts form a linked list in text order.
type part struct {
	start, end int
	prev, next int
}

// merger joins neighbours, best score first and leftmost among equals, until
// nothing joins.
type merger struct {
	tok   *Tokenizer
	text  string
	parts []part
	queue mergeQueue
}

func (m *merger) piece(i int) string { return m.text[m.parts[i].start:m.parts[i].end] }

// split starts with one part a character (a byte where the text is not UTF-8).
func (m *merger) split() {
	m.parts = make([]part, 0, len(m.text))
	for at := 0; at < len(m.text); {
		_, size := utf8.DecodeRuneInString(m.text[at:])
		n := len(m.parts)
		m.parts = append(m.parts, part{start: at, end: at + size, prev: n - 1, next: n + 1})
		at += size
	}
	m.parts[len(m.parts)-1].next = none
}

func (m *merger) run() {
	for i := range len(m.parts) - 1 {
		m.offer(i, i+1)
	}
	for len(m.queue) > 0 {
		best := m.queue.pop()
		l, r := &m.parts[best.left], &m.parts[best.right]
		if l.end == l.start || r.end == r.start || r.end-l.start != best.size {
			continue // a side has changed since
		}
		l.end, l.next = r.end, r.next
		r.start = r.end // consumed
		if l.next != none {
			m.parts[l.next].prev = best.left
		}
		m.offer(l.prev, best.left)
		m.offer(best.left, l.next)
	}
}

// offer queues two neighbours if they make a piece.
func (m *merger) offer(left, right int) {
	if left == none || right == none {
		return
	}
	text := m.text[m.parts[left].start:m.parts[right].end]
	if len(text) > m.tok.longest {
		return
	}
	if id, ok := m.tok.pieces[text]; ok {
		m.queue.push(merge{m.tok.vocab.Scores[id], left, right, len(text)})
	}
}

// merge is a pair of neighbours that together are a piece of size bytes.
type merge struct {
	score       float32
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
