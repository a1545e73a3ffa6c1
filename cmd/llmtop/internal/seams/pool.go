package seams

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// pool is threads that wait busily through each step, as those of a numeric library do at
// the barriers of a parallel loop (OpenMP's active wait policy). Go is given processors
// for them, so that the kernel has as many threads to run.
type pool struct {
	threads int
	busy    atomic.Bool
	ended   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	wake   []chan struct{}
}

func newPool(threads int) *pool {
	p := &pool{threads: threads}
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + threads)
	for range threads {
		wake := make(chan struct{}, 1)
		p.wake = append(p.wake, wake)
		p.ended.Go(func() { p.spin(wake) })
	}
	return p
}

// spin keeps a thread of its own busy whenever a step is computed.
func (p *pool) spin(wake <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range wake {
		for p.busy.Load() {
		}
	}
}

// begin sets the threads to work until rest.
func (p *pool) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.busy.Store(true)
	for _, w := range p.wake {
		select {
		case w <- struct{}{}:
		default: // it has not come round since the last step
		}
	}
}

func (p *pool) rest() { p.busy.Store(false) }

// close ends the threads and takes their processors back. A step that is being computed
// may still call rest.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.rest()
	for _, w := range p.wake {
		close(w)
	}
	p.mu.Unlock()
	p.ended.Wait()
	runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)-p.threads))
}
