package engine

// queue is the waiting sequences of one class, the next to admit in front. The
// links lie in the sequences: adding and removing take constant time however many wait.
type queue struct {
	first, last *Sequence
	count       int
}

func (l *queue) pushBack(q *Sequence) {
	q.before, q.after = l.last, nil
	if l.last == nil {
		l.first = q
	} else {
		l.last.after = q
	}
	l.last = q
	l.count++
}

func (l *queue) pushFront(q *Sequence) {
	q.before, q.after = nil, l.first
	if l.first == nil {
		l.last = q
	} else {
		l.first.before = q
	}
	l.first = q
	l.count++
}

// remove takes out a sequence that is in the queue.
func (l *queue) remove(q *Sequence) {
	if q.before == nil {
		l.first = q.after
	} else {
		q.before.after = q.after
	}
	if q.after == nil {
		l.last = q.before
	} else {
		q.after.before = q.before
	}
	q.before, q.after = nil, nil
	l.count--
}
