// Package nvml reads NVIDIA GPUs through the driver's own library, NVML, with
// go-nvml. What flows out is the section *probes.GPU; what flows in are read-only
// driver calls, nothing is ever set.
//
// Three things can go wrong with NVML, and each is fenced in:
//   - A call the installed driver lacks ends the process. Every call passes a guard
//     that looked its symbol up when the library was loaded.
//   - A call may never return. Each GPU has one goroutine, Read waits for it no
//     longer than a deadline, and no second call starts while one is out. That GPU
//     goes stale, the others go on.
//   - There may be no GPU, no library, or a driver that does not fit. That is a
//     normal state: the section's Note says so in plain words, and it is tried again
//     every half minute.
//
// Without cgo, or elsewhere than on Linux, the probe is there and its Note says
// that it was built without NVML.
package nvml

import (
	"context"
	"errors"
	"sync"
	"time"

	"llmtop/probes"
)

// Options of the probe; the zero value is right for a usual host.
type Options struct {
	LibraryPath string // of the NVML library; empty: libnvidia-ml.so.1 where the loader finds it
	Root        string // of /sys; empty: /
}

// What bounds the probe.
const (
	readDeadline = 100 * time.Millisecond // Read waits this long for the GPUs
	staleAfter   = 3 * time.Second        // a reading older than this no longer stands for now
	retryEvery   = 30 * time.Second       // between attempts to find a working driver
	closeWait    = 500 * time.Millisecond // Close waits this long for calls that are out
)

// library is NVML as a whole. Its methods are called one at a time.
type library interface {
	// open loads and starts it. The error says in plain words why there is no device.
	open() (system, error)
	// close ends what a successful open began; no device is read any more.
	close()
}

// system is what a started library tells of the host.
type system struct {
	driver  string
	cuda    string                  // newest version it runs: "12.9"
	devices []device                // by index
	links   func() []probes.GPULink // between them, as far as known by now; nil: never
}

// device is one GPU. Its methods are called from one goroutine, and may never return.
type device interface {
	// read reads everything: of the device itself, then of its MIG instances. With
	// errLost or another error nothing could be read, beyond perhaps the identity.
	read() ([]probes.GPUDevice, error)
	// release gives back what the device holds; no read follows.
	release()
}

// errLost: the device is gone until a reset or a restart.
var errLost = errors.New("the GPU is lost")

// Probe yields *probes.GPU. It starts nothing before the first Read.
type Probe struct {
	lib   library
	now   func() time.Time
	ends  sync.WaitGroup
	ctx   context.Context // ended by Close
	stop  context.CancelFunc
	begin sync.Once
	tried chan struct{} // closed after the first attempt to open

	mu      sync.Mutex
	note    string
	sys     system
	workers []*worker
}

func newProbe(lib library, now func() time.Time) *Probe {
	ctx, cancel := context.WithCancel(context.Background())
	return &Probe{lib: lib, now: now, ctx: ctx, stop: cancel, tried: make(chan struct{}), note: "NVML is starting"}
}

// Name is "gpu".
func (p *Probe) Name() string { return "gpu" }

// Read asks every GPU that is not still busy with an earlier question, waits for
// 100 ms at most, and returns the newest reading of each. What is wrong with the
// GPUs is in the section; the error is nil.
func (p *Probe) Read(ctx context.Context) (probes.Section, error) {
	p.begin.Do(func() { p.ends.Go(p.manage) })
	ctx, cancel := context.WithTimeout(ctx, readDeadline)
	defer cancel()
	if waitFor(ctx, p.tried) {
		var answers []<-chan struct{}
		for _, w := range p.current() { // all are asked before any is waited for
			answers = append(answers, w.ask())
		}
		for _, a := range answers {
			waitFor(ctx, a)
		}
	}
	return p.section(), nil
}

func waitFor(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *Probe) current() []*worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.workers
}

func (p *Probe) section() *probes.GPU {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	g := &probes.GPU{At: probes.Stamp(now), Driver: p.sys.driver, CUDA: p.sys.cuda, Note: p.note}
	for _, w := range p.workers {
		g.Devices = append(g.Devices, w.at(now)...)
	}
	if p.sys.links != nil {
		g.Links = p.sys.links()
	}
	return g
}

// Close ends the probe's goroutines and the library. A driver call that never
// returns cannot be ended: its goroutine ends when the call does.
func (p *Probe) Close() error {
	p.stop()
	done := make(chan struct{})
	go func() { p.ends.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(closeWait):
	}
	return nil
}

// manage opens the library, and again after a while when that failed or when no
// device answers any more, until Close.
func (p *Probe) manage() {
	tried := sync.OnceFunc(func() { close(p.tried) })
	defer tried()
	for p.ctx.Err() == nil {
		sys, err := p.lib.open()
		if err == nil && len(sys.devices) == 0 {
			p.lib.close()
			err = errors.New("the driver lists no GPU")
		}
		if err == nil {
			p.serve(sys, tried)
			continue
		}
		p.publish("no NVML device: "+err.Error(), system{driver: sys.driver, cuda: sys.cuda}, nil)
		tried()
		p.pause()
	}
}

func (p *Probe) pause() {
	timer := time.NewTimer(retryEvery)
	defer timer.Stop()
	select {
	case <-p.ctx.Done():
	case <-timer.C:
	}
}

func (p *Probe) publish(note string, sys system, workers []*worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note, p.sys, p.workers = note, sys, workers
}

// serve runs a worker for each device until Close, or until every device has
// failed for as long as retryEvery: after a driver reload or a reset only a new
// start helps. The library is closed when all calls have come back, since closing
// it under a call that is out may hang too.
func (p *Probe) serve(sys system, ready func()) {
	ctx, cancel := context.WithCancel(p.ctx)
	var running sync.WaitGroup
	var workers []*worker
	for i, d := range sys.devices {
		w := newWorker(i, d, p.now)
		workers = append(workers, w)
		running.Go(func() { w.run(ctx) })
	}
	p.publish("", sys, workers)
	ready()
	check := time.NewTicker(retryEvery)
	defer check.Stop()
	failedBefore := false
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-check.C:
			failed := allFailed(workers)
			if failed && failedBefore {
				cancel()
			}
			failedBefore = failed
		}
	}
	cancel()
	running.Wait()
	p.lib.close()
}

// allFailed says whether no device gives readings, and none would hold up a new
// start.
func allFailed(workers []*worker) bool {
	for _, w := range workers {
		if !w.failing() {
			return false
		}
	}
	return true
}
