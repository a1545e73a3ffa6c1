package model

import (
	"context"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
)

// workers share loops over independent items. The caller of run works too, so one
// thread means no goroutine at all. Close ends the goroutines.
type workers struct {
	threads int
	jobs    chan *job
	done    sync.WaitGroup
	labels  context.Context // whose profiling labels the goroutines carry; nil: their own
}

// job is one loop being shared: workers take grain items at a time.
type job struct {
	n, grain int
	next     atomic.Int64
	body     func(worker, lo, hi int)
	left     sync.WaitGroup
	labels   context.Context
	fault    atomic.Pointer[error] // the first fault on mapped memory
}

// newWorkers starts threads-1 goroutines; threads below 1 means GOMAXPROCS.
func newWorkers(threads int) *workers {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	w := &workers{threads: threads, jobs: make(chan *job, threads)}
	for i := 1; i < threads; i++ {
		w.done.Go(func() { w.serve(i) })
	}
	return w
}

func (w *workers) serve(id int) {
	var labels context.Context
	for j := range w.jobs {
		if j.labels != labels {
			labels = j.labels
			pprof.SetGoroutineLabels(labels)
		}
		j.guarded(id)
		j.left.Done()
	}
}

// guarded is work that keeps a fault for the caller of run.
func (j *job) guarded(id int) {
	var err error
	func() {
		defer guard(&err)()
		j.work(id)
	}()
	if err != nil {
		j.fault.CompareAndSwap(nil, &err)
	}
}

// work takes stretches until none is left.
func (j *job) work(id int) {
	for {
		lo := int(j.next.Add(int64(j.grain))) - j.grain
		if lo >= j.n {
			return
		}
		j.body(id, lo, min(lo+j.grain, j.n))
	}
}

// run calls body for all stretches of 0 to n, at least grain items each, and
// returns when all are done. A fault on mapped memory in any of them becomes a panic
// here, for guard to catch. body gets the number of the worker (0 to threads-1),
// for scratch space of its own.
func (w *workers) run(n, grain int, body func(worker, lo, hi int)) {
	helpers := min(w.threads, (n+grain-1)/grain) - 1
	if helpers < 1 {
		if n > 0 {
			body(0, 0, n)
		}
		return
	}
	j := &job{n: n, grain: max(grain, n/(4*w.threads)), body: body, labels: w.labels}
	j.left.Add(helpers)
	for range helpers {
		w.jobs <- j
	}
	j.guarded(0)
	j.left.Wait()
	if err := j.fault.Load(); err != nil {
		panic(fault{*err})
	}
}

// close ends the goroutines and waits for them.
func (w *workers) close() {
	close(w.jobs)
	w.done.Wait()
}
