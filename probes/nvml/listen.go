package nvml

import (
	"context"
	"time"
)

// errorSource is where the driver tells of critical errors. Its methods are called from
// one goroutine, and may never return.
type errorSource interface {
	// register makes it tell of a device from now on, or says in the answer why not.
	register(device int) ear
	// wait comes back with an error of a registered device, or with ok false after a
	// while without one. After err it tells of no device any more.
	wait() (device int, number uint64, ok bool, err error)
	// release ends it.
	release()
}

// How long to wait while no device has answered yet, or after the driver stopped telling.
const (
	listenSoon  = 200 * time.Millisecond
	listenPause = time.Second
)

// listen counts what the driver tells, until ctx ends. A device is asked to tell after
// its first reading, so that the readings come first and one that hangs holds up nobody.
// When the driver stops telling because one device is lost, those that are well are asked
// again.
func (p *Probe) listen(ctx context.Context, from errorSource, workers []*worker) {
	defer from.release()
	for ctx.Err() == nil {
		listening := false
		for i, w := range workers {
			if ctx.Err() == nil && w.wantsEar() {
				w.setEar(from.register(i))
			}
			listening = listening || w.listening()
		}
		if !listening {
			pause(ctx, listenSoon)
			continue
		}
		device, number, ok, err := from.wait()
		if err != nil {
			for _, w := range workers {
				w.loseEar()
			}
			pause(ctx, listenPause)
		} else if ok {
			p.xids.add(deviceKey(workers[device].identity()), toldByDriver, number, p.now())
		}
	}
}

// pause waits, or less when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// wantsEar: it answers, and was not yet asked to tell of its errors.
func (w *worker) wantsEar() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.ear.asked && w.err == nil && !w.latest[0].At.IsZero()
}

func (w *worker) setEar(e ear) { w.mu.Lock(); e.asked = true; w.ear = e; w.mu.Unlock() }

// loseEar makes it be asked again. One that was refused stays so.
func (w *worker) loseEar() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ear.hears {
		w.ear.asked = false
	}
}

func (w *worker) listening() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ear.asked && w.ear.hears
}

// hearing is whether its errors are told of, and else why not.
func (w *worker) hearing() ear { w.mu.Lock(); defer w.mu.Unlock(); return w.ear }
