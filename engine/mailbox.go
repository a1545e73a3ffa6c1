package engine

import "sync"

// mailbox passes values from one goroutine to another. Putting never waits, so a
// slow reader cannot hold up the engine's loop; what is put is bounded by the
// tokens of one answer.
type mailbox[T any] struct {
	mu     sync.Mutex
	items  []T
	closed bool
	ready  chan struct{} // holds one signal when there is something to take
}

func newMailbox[T any]() *mailbox[T] {
	return &mailbox[T]{ready: make(chan struct{}, 1)}
}

// put adds a value; after close it is dropped.
func (m *mailbox[T]) put(v T) {
	m.mu.Lock()
	if !m.closed {
		m.items = append(m.items, v)
	}
	m.mu.Unlock()
	m.signal()
}

// close says that nothing more comes.
func (m *mailbox[T]) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.signal()
}

// take returns what has come since the last take, and whether that was the end.
// The caller gives back the previous result for reuse.
func (m *mailbox[T]) take(reuse []T) (items []T, closed bool) {
	clear(reuse)
	m.mu.Lock()
	defer m.mu.Unlock()
	items, m.items = m.items, reuse[:0]
	return items, m.closed
}

func (m *mailbox[T]) signal() {
	select {
	case m.ready <- struct{}{}:
	default:
	}
}
