package engine

import (
	"math"
	"sync"
	"time"
)

// admission limits how many requests wait for their first step. The limit is
// checked before a request's text is tokenized: refusing must be cheap, or an
// overloaded engine spends its time on requests that it then refuses.
//
// Each class has its queue, and each queue the limit. So work that nobody waits for
// never gets a person's request refused, and a flood of urgent requests does not
// keep the other classes from the share that they are guaranteed.
type admission struct {
	limit    int // negative: none
	parallel int // requests served at once

	mu      sync.Mutex
	waiting [NumClasses]int
	service float64 // seconds from first step to last token, moving mean; 0 until known
}

// serviceWeight is the weight of the newest request in the moving mean: about the last twenty count.
const serviceWeight = 0.1

// ticket is a place in the queue. It is given back once, by whoever comes first.
type ticket struct {
	a     *admission
	class Class
	once  sync.Once
}

// enter takes a place in the queue; nil means that there is none.
func (a *admission) enter(c Class) *ticket {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.limit >= 0 && a.waiting[c.index()] >= a.limit {
		return nil
	}
	a.waiting[c.index()]++
	return &ticket{a: a, class: c}
}

// before is how many wait that go before a new request of that class; the caller holds mu.
func (a *admission) before(c Class) (n int) {
	for _, w := range a.waiting[:c.index()+1] {
		n += w
	}
	return n
}

func (t *ticket) leave() {
	t.once.Do(func() {
		t.a.mu.Lock()
		t.a.waiting[t.class.index()]--
		t.a.mu.Unlock()
	})
}

// queued is how many requests of each class wait for their first step.
func (a *admission) queued() [NumClasses]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting
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

// retryAfter estimates the whole seconds until the queue of now is served, as far as
// a request of that class has to wait for it, 1–60.
func (a *admission) retryAfter(c Class) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait := float64(a.before(c)) * a.service / float64(a.parallel)
	return int(math.Ceil(min(max(wait, 1), 60)))
}
