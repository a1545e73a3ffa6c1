package otlp

// seen is a span that was looked at; without the second part, a trace.
type seen struct {
	trace traceID
	span  spanID
}

// recent knows the spans that were looked at lately, so that one that is sent again counts once.
type recent struct {
	known map[seen]struct{}
	ring  []seen // oldest at next, once it is full
	next  int
	size  int
}

func newRecent(size int) recent {
	return recent{known: make(map[seen]struct{}), size: size}
}

func (r *recent) has(s seen) bool {
	_, ok := r.known[s]
	return ok
}

// add reports whether it was new.
func (r *recent) add(s seen) bool {
	if r.has(s) {
		return false
	}
	r.known[s] = struct{}{}
	if len(r.ring) < r.size {
		r.ring = append(r.ring, s)
		return true
	}
	delete(r.known, r.ring[r.next])
	r.ring[r.next] = s
	r.next = (r.next + 1) % len(r.ring)
	return true
}
