// Package nvml reads NVIDIA GPUs through the driver's own library, NVML, with
// go-nvml. What flows out is the section *probes.GPU; what flows in are read-only
// driver calls and the kernel's log, nothing is ever set.
//
// Several things can go wrong with NVML, and each is fenced in:
//   - A call the installed driver lacks ends the process. Every call passes a guard
//     that looked its symbol up when the library was loaded.
//   - A call may never return. Each GPU has one goroutine, Read waits for it no
//     longer than a deadline, and no second call starts while one is out. That GPU
//     goes stale, the others go on. Critical errors (Xid) are waited for by one more,
//     which delays no reading.
//   - There may be no GPU, no library, or a driver that does not fit. That is a
//     normal state: the section's Note says so in plain words, and it is tried again
//     every half minute.
//   - A question wakes a GPU that the kernel has put to sleep. Once its address is
//     known, one that sleeps is left alone.
//
// One thing cannot be fenced in here. go-nvml leaves NVML's functions to be found by
// the loader when they are first called. Where everything must be found at the start, the
// process ends before main with "symbol lookup error", also on hosts that have the
// driver. The environment LD_BIND_NOW=1 does that: start llmtop without it. A C
// compiler that links with -z now by default does it too, and the go command accepts no
// flag against that from a source file; build with
//
//	go build -ldflags '-extldflags=-Wl,-z,lazy' ./cmd/llmtop
//
// Without cgo, or elsewhere than on Linux, the probe is there and its Note says
// that it was built without NVML.
package nvml

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"llmtop/probes"
)

// Options of the probe; the zero value is right for a usual host.
type Options struct {
	LibraryPath string // of the NVML library; empty: libnvidia-ml.so.1 where the loader finds it
	Root        string // of /proc, /sys and /dev; empty: /
}

// What bounds the probe.
const (
	readDeadline = 100 * time.Millisecond // Read waits this long for the GPUs
	staleAfter   = 3 * time.Second        // a reading older than this no longer stands for now
	retryEvery   = 30 * time.Second       // between attempts to find a working driver
	closeWait    = 500 * time.Millisecond // Close waits this long for calls that are out
	maxDevices   = 64                     // what a broken driver can make us believe
)

// library is NVML as a whole. Its methods are called one at a time, but for calls.
type library interface {
	// open loads and starts it. The error says in plain words why there is no device.
	open() (system, error)
	// close ends what a successful open began; no device is read any more.
	close()
	// calls says how its functions answered, at any time.
	calls() []Call
}

// system is what a started library tells of the host.
type system struct {
	driver  string
	cuda    string                  // newest version it runs: "12.9"
	devices []device                // by index
	links   func() []probes.GPULink // between them, as far as known by now; nil: never
	errors  errorSource
}

// device is one GPU. Its methods are called from one goroutine, and may never return.
type device interface {
	// read reads everything: of the device itself, then of its MIG instances. With
	// errLost or another error nothing could be read, beyond perhaps the identity.
	read() ([]probes.GPUDevice, error)
	// processes lists who uses it; false: that could not be asked.
	processes() ([]probes.GPUProcess, bool)
	// release gives back what the device holds; no read follows.
	release()
}

// errLost: the device is gone until a reset or a restart. errAsleep: nobody uses it, and
// the kernel has switched it off for as long as nobody does.
var (
	errLost   = errors.New("the GPU is lost")
	errAsleep = errors.New("the GPU sleeps")
)

// Probe yields *probes.GPU. It starts nothing before the first Read.
type Probe struct {
	lib   library
	root  string // of /proc, /sys and /dev
	now   func() time.Time
	ends  sync.WaitGroup
	ctx   context.Context // ended by Close
	stop  context.CancelFunc
	begin sync.Once
	tried chan struct{} // closed after the first attempt to open
	xids  xidLog

	mu      sync.Mutex
	note    string
	calling time.Time // when the start or end of NVML that is out began; zero: none is
	sys     system
	workers []*worker
	gone    []probes.GPUDevice // devices of earlier starts, as last known
}

// Starting is how the section's Note begins while NVML is being started.
const Starting = "NVML is starting"

// newProbe has no root: it sees neither the kernel's log nor the bus.
func newProbe(lib library, now func() time.Time) *Probe {
	ctx, cancel := context.WithCancel(context.Background())
	return &Probe{lib: lib, now: now, ctx: ctx, stop: cancel, tried: make(chan struct{}), note: Starting}
}

// Name is "gpu".
func (p *Probe) Name() string { return "gpu" }

// Calls says how each driver function that was asked answered, by device and then by
// name. Unlike Read it waits for nothing.
func (p *Probe) Calls() []Call { return p.lib.calls() }

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
		devices := w.at(now)
		devices[0].XidTotal, devices[0].LastXid = p.xids.of(deviceKey(devices[0]), w.hearing())
		g.Devices = append(g.Devices, devices...)
		w.addProcesses(g, now)
	}
	if len(g.Devices) > 0 {
		for _, d := range missing(p.gone, g.Devices) {
			d.XidTotal, d.LastXid = p.xids.of(deviceKey(d), ear{})
			g.Devices = append(g.Devices, d)
		}
		g.KernelLog = p.xids.kernelNote()
	}
	if out := now.Sub(p.calling); !p.calling.IsZero() && out > staleAfter {
		g.Note = fmt.Sprintf("%s: no answer from the driver for %.0f s", Starting, out.Seconds())
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
		var sys system
		var err error
		p.alone(func() { sys, err = p.lib.open() })
		if err == nil && len(sys.devices) == 0 {
			p.alone(p.lib.close)
			err = errors.New("the driver lists no GPU")
		}
		if err == nil {
			p.serve(sys, tried)
			continue
		}
		p.publish("no NVML device: "+err.Error(), system{driver: sys.driver, cuda: sys.cuda}, nil)
		tried()
		pause(p.ctx, retryEvery)
	}
}

func (p *Probe) publish(note string, sys system, workers []*worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = remember(p.gone, p.workers)
	p.note, p.sys, p.workers = note, sys, workers
}

// serve runs a worker for each device until Close, or until a new start is needed. The
// library is closed when all calls have come back, since closing it under a call that
// is out may hang too.
func (p *Probe) serve(sys system, ready func()) {
	ctx, cancel := context.WithCancel(p.ctx)
	var running sync.WaitGroup
	var workers []*worker
	for i, d := range sys.devices {
		w := newWorker(i, d, p.now)
		w.root = p.root
		workers = append(workers, w)
		running.Go(func() { w.run(ctx) })
	}
	if sys.errors != nil {
		running.Go(func() { p.listen(ctx, sys.errors, workers) })
	}
	p.publish("", sys, workers)
	ready()
	p.xids.followKernel(p)
	untilRestart(ctx, workers, func() string { return boundDevices(p.root) })
	cancel()
	running.Wait()
	p.alone(p.lib.close)
}

// alone makes a call that starts or ends NVML: it may never return, and is about no device.
func (p *Probe) alone(call func()) {
	p.mark(p.now())
	call()
	p.mark(time.Time{})
}

func (p *Probe) mark(began time.Time) { p.mu.Lock(); p.calling = began; p.mu.Unlock() }
