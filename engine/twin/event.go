package twin

import "time"

// kind says what an event is about.
type kind uint8

const (
	bodyRead  kind = iota // of a job: the last byte of its request is here
	parsed                // of a job: read, checked, allowed
	tokenized             // of a job
	decoded               // of a job: its images are
	assembled             // of a job: it is a sequence
	gated                 // of a job: something that it had to wait for is there
	moved                 // of a job: its keys and values are here
	told                  // of a job: its first token is text
	answered              // of a job: its last token is text
	sent                  // of a job: its last byte is written
	stepped               // of a replica: its step is over
	woken                 // of a replica: its policy has waited long enough
	served                // of a replica: it is loaded
)

// event is something that happens at a time to a job or a replica. When what it is
// about has begun anew since (another life), it is void.
type event struct {
	at    time.Duration
	order uint64 // of coming about: breaks ties
	life  uint32
	id    int32 // of the job or the replica
	kind  kind
}

// agenda holds the events to come: a heap of four children a node, flat and without
// pointers, as it is used for each step and several times for each request.
type agenda struct {
	heap  []event
	count uint64
}

func (a *event) before(b *event) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (a *agenda) add(at time.Duration, k kind, id int32, life uint32) {
	a.count++
	e := event{at: at, order: a.count, life: life, id: id, kind: k}
	a.heap = append(a.heap, e)
	i := len(a.heap) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&a.heap[up]) {
			break
		}
		a.heap[i] = a.heap[up]
		i = up
	}
	a.heap[i] = e
}

// next takes out the first event; there must be one.
func (a *agenda) next() event {
	first, last := a.heap[0], a.heap[len(a.heap)-1]
	a.heap = a.heap[:len(a.heap)-1]
	n, i := len(a.heap), 0
	if n == 0 {
		return first
	}
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, n); c++ {
			if a.heap[c].before(&a.heap[least]) {
				least = c
			}
		}
		if !a.heap[least].before(&last) {
			break
		}
		a.heap[i] = a.heap[least]
		i = least
	}
	a.heap[i] = last
	return first
}
