package engine

import (
	"math"
	"sync"
	"time"
)

// admission limits how many requests wait for their first step. The limit is
// checked before a request's text is tokenized: refusing must be cheap, or an
// overloaded engine spends its time on requests that it then refuses.
type admission struct {
	limit    int // negative: none
	parallel int // requests served at once

	mu      sync.Mutex
	waiting int
	service float64 // seconds from first step to last token, moving mean; 0 until known
}

// serviceWeight is the weight of the newest request in the moving mean: about the last twenty count.
const serviceWeight = 0.1

// ticket is a place in the queue. It is given back once, by whoever comes first.
type ticket struct {
	a    *admission
	once sync.Once
}

// enter takes a place in the queue; nil means that there is none.
func (a *admission) enter() *ticket {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.limit >= 0 && a.waiting >= a.limit {
		return nil
	}
	a.waiting++
	return &ticket{a: a}
}

func (t *ticket) leave() {
	t.once.Do(func() {
		t.a.mu.Lock()
		t.a.waiting--
		t.a.mu.Unlock()
	})
}

// served notes how long a request took from its first step to its last token.
func (a *admission) served(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.service == 0 {
		a.service = d.Seconds()
		return
	}
	a.service += serviceWeight * (d.Seconds() - a.service)
}

// retryAfter estimates the whole seconds until the queue of now is served, 1–60.
func (a *admission) retryAfter() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait := float64(a.waiting) * a.service / float64(a.parallel)
	return int(math.Ceil(min(max(wait, 1), 60)))
}
