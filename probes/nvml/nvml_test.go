package nvml

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

// fakeLibrary opens as scripted: the nth attempt gives opens[n], later ones the last.
type fakeLibrary struct {
	opens   []opening
	mu      sync.Mutex
	opened  int
	closed  int
	blocked chan struct{} // open waits for it when not nil
}

type opening struct {
	sys system
	err error
}

func (l *fakeLibrary) open() (system, error) {
	if l.blocked != nil {
		<-l.blocked
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.opens[min(l.opened, len(l.opens)-1)]
	l.opened++
	return o.sys, o.err
}

func (l *fakeLibrary) close() { l.mu.Lock(); l.closed++; l.mu.Unlock() }

func (l *fakeLibrary) calls() []Call { return nil }

func (l *fakeLibrary) counts() (opened, closed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened, l.closed
}

// fakeDevice counts its readings, and can fail or hang.
type fakeDevice struct {
	who       probes.GPUDevice // empty: one of no account
	instances []probes.GPUDevice
	takes     time.Duration // each call

	mu       sync.Mutex
	err      error
	gate     chan struct{} // read waits for it when not nil
	listGate chan struct{} // processes does
	users    []probes.GPUProcess
	reads    int
	lists    int
	inside   int
	released bool
}

func (d *fakeDevice) read() ([]probes.GPUDevice, error) {
	d.mu.Lock()
	d.reads++
	n, err, gate := d.reads, d.err, d.gate
	d.mu.Unlock()
	d.call(gate)
	who := d.who
	if who.UUID == "" {
		who = probes.GPUDevice{UUID: "GPU-1", Name: "Fake"}
	}
	who.PowerWatts = probes.Some(float64(n))
	return append([]probes.GPUDevice{who}, d.instances...), err
}

func (d *fakeDevice) processes() ([]probes.GPUProcess, bool) {
	d.mu.Lock()
	d.lists++
	gate, list := d.listGate, slices.Clone(d.users)
	d.mu.Unlock()
	d.call(gate)
	return list, list != nil
}

// call takes as long as the gate is shut.
func (d *fakeDevice) call(gate chan struct{}) {
	d.mu.Lock()
	d.inside++
	inside := d.inside
	d.mu.Unlock()
	if inside > 1 {
		panic("two calls at once")
	}
	if gate != nil {
		<-gate
	}
	time.Sleep(d.takes)
	d.mu.Lock()
	d.inside--
	d.mu.Unlock()
}

func (d *fakeDevice) release() { d.mu.Lock(); d.released = true; d.mu.Unlock() }

func (d *fakeDevice) set(err error, gate chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.gate = err, gate
}

func (d *fakeDevice) count() int { d.mu.Lock(); defer d.mu.Unlock(); return d.reads }

func start(t *testing.T, lib library) *Probe {
	t.Helper()
	p := newProbe(lib, time.Now)
	t.Cleanup(func() { p.Close() })
	return p
}

func read(t *testing.T, p *Probe) *probes.GPU {
	t.Helper()
	s, err := p.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.(*probes.GPU)
}

func pass(d time.Duration) { <-time.After(d) }

func TestReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &fakeDevice{}, &fakeDevice{}
		lib := &fakeLibrary{opens: []opening{{sys: system{driver: "580.1", devices: []device{a, b}}}}}
		p := newProbe(lib, time.Now)
		for round := 1; round <= 3; round++ {
			g := read(t, p)
			if len(g.Devices) != 2 || g.Driver != "580.1" || g.Note != "" || !g.At.Equal(time.Now()) {
				t.Fatalf("section %+v, want two devices now", g)
			}
			for i, d := range g.Devices {
				if w, ok := d.PowerWatts.Get(); !ok || w != float64(round) || d.Index != i || d.UUID != "GPU-1" || d.Err != "" || !d.At.Equal(time.Now()) {
					t.Errorf("round %d, device %+v", round, d)
				}
			}
			pass(time.Second)
		}
		p.Close()
		if opened, closed := lib.counts(); opened != 1 || closed != 1 || !a.released || !b.released {
			t.Errorf("opened %d, closed %d, released %v %v, want each once", opened, closed, a.released, b.released)
		}
	})
}

// One hangs, the other goes on; when the call comes back so do the readings.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		well, stuck := &fakeDevice{}, &fakeDevice{}
		p := start(t, &fakeLibrary{opens: []opening{{sys: system{devices: []device{stuck, well}}}}})
		first := read(t, p)
		gate := make(chan struct{})
		stuck.set(nil, gate)
		for range 2 {
			pass(time.Second)
			began := time.Now()
			g := read(t, p)
			if took := time.Since(began); took > readDeadline {
				t.Errorf("read took %v, want %v at most", took, readDeadline)
			}
			if w, ok := g.Devices[0].PowerWatts.Get(); !ok || w != 1 || !g.Devices[0].At.Equal(first.At) {
				t.Errorf("a young reading is gone: %+v", g.Devices[0])
			}
		}
		pass(3 * time.Second)
		g := read(t, p)
		d := g.Devices[0]
		if d.PowerWatts.Seen() || d.PowerWatts.Why() != probes.Stale || d.Err == "" || d.UUID != "GPU-1" || !d.At.Equal(first.At) {
			t.Errorf("the stuck device is %+v, want stale, with its identity, its last time and an error", d)
		}
		if w, _ := g.Devices[1].PowerWatts.Get(); w != 4 {
			t.Errorf("the other was read %v times, want 4", w)
		}
		if stuck.count() != 2 {
			t.Errorf("%d calls to the stuck device, want 2", stuck.count())
		}
		stuck.set(nil, nil)
		close(gate)
		synctest.Wait()
		if d := read(t, p).Devices[0]; !d.PowerWatts.Seen() || d.Err != "" {
			t.Errorf("after the call came back: %+v", d)
		}
	})
}

func TestLostAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDevice{}
		p := start(t, &fakeLibrary{opens: []opening{{sys: system{devices: []device{d}}}}})
		seen := read(t, p).At
		d.set(fmt.Errorf("%w: fell off", errLost), nil)
		pass(time.Second)
		got := read(t, p).Devices[0]
		if got.PowerWatts.Why() != probes.Lost || got.PowerWatts.Seen() || got.Err != "the GPU is lost: fell off" || got.Name != "Fake" || !got.At.Equal(seen) {
			t.Errorf("lost: %+v", got)
		}
		d.set(errors.New("odd"), nil)
		if got := read(t, p).Devices[0]; got.PowerWatts.Why() != probes.Stale || got.Err != "odd" {
			t.Errorf("failing: %+v", got)
		}
		d.set(nil, nil)
		if got := read(t, p).Devices[0]; !got.PowerWatts.Seen() || got.Err != "" {
			t.Errorf("back: %+v", got)
		}
	})
}

// A host without a GPU says why, and a driver that comes later is found.
func TestNoLibraryThenOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lib := &fakeLibrary{opens: []opening{{err: errors.New("not installed")}, {sys: system{driver: "1"}}, {sys: system{devices: []device{&fakeDevice{}}}}}}
		p := start(t, lib)
		if g := read(t, p); g.Note != "no NVML device: not installed" || len(g.Devices) != 0 {
			t.Errorf("%+v", g)
		}
		pass(retryEvery - time.Second)
		if opened, _ := lib.counts(); opened != 1 {
			t.Errorf("opened %d times before the half minute was over", opened)
		}
		pass(2 * time.Second)
		if g := read(t, p); g.Note != "no NVML device: the driver lists no GPU" || g.Driver != "1" {
			t.Errorf("%+v", g)
		}
		if _, closed := lib.counts(); closed != 1 {
			t.Error("a library without a GPU was left open")
		}
		pass(retryEvery)
		if g := read(t, p); g.Note != "" || len(g.Devices) != 1 {
			t.Errorf("%+v", g)
		}
	})
}

// After a driver reload every call fails until NVML is started again.
func TestStartsAgainWhenAllFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, other, fresh := &fakeDevice{}, &fakeDevice{}, &fakeDevice{}
		lib := &fakeLibrary{opens: []opening{{sys: system{devices: []device{old, other}}}, {sys: system{devices: []device{fresh}}}}}
		p := start(t, lib)
		every := func(n int) {
			for range n {
				read(t, p)
				pass(time.Second)
			}
		}
		old.set(errLost, nil)
		every(100)
		if opened, _ := lib.counts(); opened != 1 {
			t.Fatal("started again although one device is well")
		}
		other.set(errors.New("NVML error 1"), nil)
		every(100)
		if opened, closed := lib.counts(); opened != 2 || closed != 1 || !old.released {
			t.Errorf("opened %d, closed %d, want 2 and 1", opened, closed)
		}
		if g := read(t, p); len(g.Devices) != 1 || !g.Devices[0].PowerWatts.Seen() {
			t.Errorf("after the new start: %+v", g)
		}
	})
}

func TestOpenHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lib := &fakeLibrary{blocked: make(chan struct{}), opens: []opening{{sys: system{devices: []device{&fakeDevice{}}}}}}
		p := start(t, lib)
		if g := read(t, p); g.Note != "NVML is starting" {
			t.Errorf("%+v", g)
		}
		pass(12 * time.Second)
		if g := read(t, p); g.Note != "NVML is starting: no answer from the driver for 12 s" {
			t.Errorf("after 12 s: %+v", g)
		}
		began := time.Now()
		p.Close()
		if took := time.Since(began); took > closeWait {
			t.Errorf("Close took %v", took)
		}
		close(lib.blocked) // else the bubble would rightly complain
		synctest.Wait()
		if opened, closed := lib.counts(); opened != closed {
			t.Errorf("opened %d, closed %d", opened, closed)
		}
	})
}

func TestCloseWithoutRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(&fakeLibrary{}, time.Now)
		p.Close()
		p.Close()
		if g := read(t, p); len(g.Devices) != 0 {
			t.Errorf("%+v", g)
		}
	})
}

func TestReadEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		d := &fakeDevice{gate: gate}
		p := start(t, &fakeLibrary{opens: []opening{{sys: system{devices: []device{d}}}}})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		s, err := p.Read(ctx)
		if err != nil || s == nil || time.Since(began) != 0 {
			t.Errorf("%v, %v after %v", s, err, time.Since(began))
		}
		close(gate)
	})
}

// A reading added to the section must not survive its device; the errors it had do.
func TestWithoutReadingsLeavesNone(t *testing.T) {
	full := probes.GPUDevice{Index: 3, UUID: "u", Name: "n", At: time.Unix(1, 0), Err: "e"}
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		switch v.Field(i).Interface().(type) {
		case probes.Opt[float64]:
			v.Field(i).Set(reflect.ValueOf(probes.Some(1.5)))
		case probes.Opt[uint64]:
			v.Field(i).Set(reflect.ValueOf(probes.Some(uint64(1))))
		}
	}
	bare := full.WithoutReadings(probes.Lost)
	b := reflect.ValueOf(bare)
	for i := range b.NumField() {
		name := b.Type().Field(i).Name
		if o, ok := b.Field(i).Interface().(interface{ Seen() bool }); ok && o.Seen() != (strings.Contains(name, "Xid") || name == "InstanceID") {
			t.Errorf("%s: still there %v", name, o.Seen())
		}
	}
	if bare.Index != 3 || bare.UUID != "u" || bare.Name != "n" || bare.Err != "e" || bare.At != full.At {
		t.Errorf("%+v lost its identity", bare)
	}
}
