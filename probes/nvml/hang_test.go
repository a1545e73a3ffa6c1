package nvml

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

// eight devices, each with an address; takes is how long a call takes.
func eight(takes time.Duration) ([]*fakeDevice, system) {
	var fakes []*fakeDevice
	var sys system
	for i := range 8 {
		d := &fakeDevice{takes: takes, who: probes.GPUDevice{UUID: fmt.Sprintf("GPU-%d", i), PCIAddress: fmt.Sprintf("0000:1%d:00.0", i)}}
		fakes, sys.devices = append(fakes, d), append(sys.devices, d)
	}
	return fakes, sys
}

// For a minute one of eight hangs. The other seven are read once a second, and the one is
// not asked again until it answers.
func TestSevenKeepTheirRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fakes, sys := eight(4 * time.Millisecond)
		p := start(t, &fakeLibrary{opens: []opening{{sys: sys}}})
		read(t, p)
		pass(time.Second)
		gate := make(chan struct{})
		fakes[3].set(nil, gate)
		asked := fakes[3].count()
		fresh := [8]int{}
		for tick := range 60 {
			began := time.Now()
			g := read(t, p)
			for i, d := range g.Devices {
				if !d.At.Before(began) && d.PowerWatts.Seen() {
					fresh[i]++
				}
			}
			if stuck := g.Devices[3]; tick > 3 && (stuck.Err == "" || stuck.PowerWatts.Seen() || stuck.PowerWatts.Why() != probes.Stale) {
				t.Fatalf("after %d s the one that hangs is %+v", tick, stuck)
			}
			pass(time.Second - time.Since(began))
		}
		if want := [8]int{60, 60, 60, 0, 60, 60, 60, 60}; fresh != want {
			t.Errorf("fresh readings in 60 s: %v, want %v", fresh, want)
		}
		if n := fakes[3].count() - asked; n != 1 {
			t.Errorf("%d calls to the one that hangs, want 1", n)
		}
		fakes[3].set(nil, nil)
		close(gate)
		synctest.Wait()
		if d := read(t, p).Devices[3]; !d.PowerWatts.Seen() || d.Err != "" {
			t.Errorf("after it came back: %+v", d)
		}
	})
}

// The first read has all devices, since they are asked at once.
func TestFirstReadIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, sys := eight(readDeadline * 8 / 10)
		p := start(t, &fakeLibrary{opens: []opening{{sys: sys}}})
		began := time.Now()
		g := read(t, p)
		for _, d := range g.Devices {
			if d.UUID == "" || !d.PowerWatts.Seen() {
				t.Errorf("not read at first: %+v", d)
			}
		}
		if took := time.Since(began); len(g.Devices) != 8 || took > readDeadline {
			t.Errorf("%d devices in %v", len(g.Devices), took)
		}
	})
}

// Processes come beside the readings, more rarely, and hold none up.
func TestProcessesComeRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDevice{who: probes.GPUDevice{UUID: "GPU-1"}, users: []probes.GPUProcess{{GPU: "GPU-1", PID: 7}}}
		none := &fakeDevice{who: probes.GPUDevice{UUID: "GPU-2"}}
		p := start(t, &fakeLibrary{opens: []opening{{sys: system{devices: []device{d, none}}}}})
		for range 60 {
			read(t, p)
			pass(time.Second)
		}
		if d.lists != 20 {
			t.Errorf("asked %d times for the processes in a minute, want 20", d.lists)
		}
		if g := read(t, p); len(g.Processes) != 1 || g.Processes[0].PID != 7 || g.At.Sub(g.ProcessesAt) > processEvery {
			t.Errorf("%+v", g)
		}
		gate := make(chan struct{})
		d.mu.Lock()
		d.listGate = gate
		d.mu.Unlock()
		pass(processEvery)
		if g := read(t, p); !g.Devices[0].At.Equal(g.At) {
			t.Errorf("the reading waited for the processes: %+v", g.Devices[0])
		}
		for range 4 {
			pass(time.Second)
			read(t, p)
		}
		if g := read(t, p); g.Devices[0].Err == "" || d.count() != 62 {
			t.Errorf("while asking for processes hangs: %+v after %d reads", g.Devices[0], d.count())
		}
		close(gate)
		d.set(errors.New("odd"), nil)
		synctest.Wait()
		pass(time.Second)
		if g := read(t, p); len(g.Processes) != 0 || !g.ProcessesAt.IsZero() {
			t.Errorf("processes of a device that fails: %+v", g)
		}
	})
}

// What MIG instances read is lost with their device.
func TestInstancesFollowTheirDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDevice{who: probes.GPUDevice{UUID: "GPU-1"}, instances: []probes.GPUDevice{{UUID: "MIG-1", Parent: "GPU-1", MemoryUsedBytes: probes.Some(1.0)}}}
		p := start(t, &fakeLibrary{opens: []opening{{sys: system{devices: []device{d}}}}})
		g := read(t, p)
		if len(g.Devices) != 2 || g.Devices[1].UUID != "MIG-1" || !g.Devices[1].At.Equal(g.At) || !g.Devices[1].MemoryUsedBytes.Seen() {
			t.Errorf("%+v", g.Devices)
		}
		d.set(errLost, nil)
		pass(time.Second)
		if g = read(t, p); len(g.Devices) != 2 || g.Devices[1].MemoryUsedBytes.Why() != probes.Lost || g.Devices[1].Err == "" {
			t.Errorf("lost: %+v", g.Devices)
		}
	})
}

// hostBus makes a /sys with devices of the NVIDIA driver.
type hostBus struct {
	t    *testing.T
	root string
}

func newBus(t *testing.T) hostBus {
	b := hostBus{t, t.TempDir()}
	b.write("sys/bus/pci/drivers/nvidia/bind", "")
	return b
}

func (b hostBus) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		b.t.Fatal(err)
	}
}

// bind gives the driver the first n of eight devices.
func (b hostBus) bind(n int) {
	b.t.Helper()
	for i := range 8 {
		name := fmt.Sprintf("sys/bus/pci/drivers/nvidia/0000:1%d:00.0", i)
		if b.write(name, ""); i >= n {
			if err := os.Remove(filepath.Join(b.root, name)); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

// A GPU that sleeps is not asked, and that is no error.
func TestAsleep(t *testing.T) {
	bus := newBus(t)
	const status = "sys/bus/pci/devices/0000:10:00.0/power/runtime_status"
	bus.write(status, "active\n")
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDevice{who: probes.GPUDevice{UUID: "GPU-1", PCIAddress: "0000:10:00.0"}}
		lib := &fakeLibrary{opens: []opening{{sys: system{devices: []device{d}}}}}
		p := start(t, lib)
		p.root = bus.root
		if g := read(t, p); g.Devices[0].Asleep || !g.Devices[0].PowerWatts.Seen() {
			t.Errorf("awake: %+v", g.Devices[0])
		}
		bus.write(status, "suspended\n")
		for range 100 {
			pass(time.Second)
			got := read(t, p).Devices[0]
			if !got.Asleep || got.Err != "" || got.PowerWatts.Seen() || got.PowerWatts.Why() != probes.Stale || got.UUID != "GPU-1" {
				t.Fatalf("asleep: %+v", got)
			}
		}
		if opened, _ := lib.counts(); d.count() != 1 || d.lists != 1 || opened != 1 {
			t.Errorf("it was asked %d and %d times, NVML started %d times, while it slept", d.count(), d.lists, opened)
		}
		bus.write(status, "active\n")
		pass(time.Second)
		if got := read(t, p).Devices[0]; got.Asleep || !got.PowerWatts.Seen() {
			t.Errorf("awake again: %+v", got)
		}
	})
}

// A device that is taken off the bus is lost; when it is found again NVML is started anew
// and it is back. A call that is out puts that off.
func TestDevicesComeAndGo(t *testing.T) {
	bus := newBus(t)
	bus.bind(8)
	synctest.Test(t, func(t *testing.T) {
		fakes, sys := eight(0)
		fewer := system{devices: sys.devices[:7]}
		lib := &fakeLibrary{opens: []opening{{sys: sys}, {sys: fewer}, {sys: sys}}}
		p := start(t, lib)
		p.root = bus.root
		minutes := func(n float64) (g *probes.GPU) {
			for range int(n * 60) {
				g = read(t, p)
				pass(time.Second)
			}
			return read(t, p)
		}
		fakes[7].set(errLost, nil)
		if g := minutes(3); len(g.Devices) != 8 || g.Devices[7].PowerWatts.Why() != probes.Lost || !g.Devices[0].PowerWatts.Seen() {
			t.Errorf("one lost: %+v", g.Devices)
		}
		if opened, _ := lib.counts(); opened != 1 {
			t.Error("the others were disturbed for one that is lost")
		}
		bus.bind(7)
		gate := make(chan struct{})
		fakes[2].set(nil, gate)
		if minutes(3); lib.opened != 1 {
			t.Error("started anew while a call is out")
		}
		fakes[2].set(nil, nil)
		close(gate)
		g := minutes(1.5)
		if opened, _ := lib.counts(); opened != 2 || len(g.Devices) != 8 {
			t.Fatalf("opened %d times, %d devices", opened, len(g.Devices))
		}
		if d := g.Devices[7]; d.UUID != "GPU-7" || d.Err != "the GPU is lost: the driver no longer lists it (0000:17:00.0)" || d.PowerWatts.Why() != probes.Lost {
			t.Errorf("the one that is gone: %+v", d)
		}
		fakes[7].set(nil, nil)
		bus.bind(8)
		g = minutes(1.5)
		if d := g.Devices[7]; len(g.Devices) != 8 || d.Err != "" || !d.PowerWatts.Seen() {
			t.Errorf("found again: %d devices, %+v", len(g.Devices), d)
		}
	})
}

// fakeErrors tells what is put into it.
type fakeErrors struct {
	told    chan int // devices with an Xid 31; below 0: it breaks
	refuses map[int]probes.Absence

	mu         sync.Mutex
	registered map[int]int // how often
	released   bool
}

func (e *fakeErrors) register(device int) ear {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.registered[device]++
	why, refused := e.refuses[device]
	return ear{hears: !refused, why: why}
}

func (e *fakeErrors) wait() (int, uint64, bool, error) {
	select {
	case d := <-e.told:
		if d < 0 {
			return 0, 0, false, errors.New("broken")
		}
		return d, 31, true, nil
	case <-time.After(400 * time.Millisecond):
		return 0, 0, false, nil
	}
}

func (e *fakeErrors) release() { e.mu.Lock(); e.released = true; e.mu.Unlock() }

func TestListening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fakes, sys := eight(0)
		from := &fakeErrors{told: make(chan int), registered: map[int]int{}, refuses: map[int]probes.Absence{5: probes.Unsupported}}
		sys.errors = from
		gate := make(chan struct{})
		fakes[6].set(nil, gate) // hangs from the beginning: nobody asks it to tell
		p := newProbe(&fakeLibrary{opens: []opening{{sys: sys}}}, time.Now)
		read(t, p)
		pass(time.Second)
		from.told <- 2
		from.told <- 2
		synctest.Wait()
		g := read(t, p)
		for i, want := range map[int]probes.Opt[uint64]{0: probes.Some[uint64](0), 2: probes.Some[uint64](2), 5: probes.None[uint64](probes.Unsupported), 6: {}} {
			if got := g.Devices[i].XidTotal; got != want {
				t.Errorf("GPU %d: %v, want %v", i, got, want)
			}
		}
		fakes[1].set(errLost, nil)
		close(gate)
		synctest.Wait()
		read(t, p)
		pass(time.Second) // the one that hung is asked, too
		from.told <- -1   // as after a device is lost
		pass(2 * time.Second)
		from.told <- 0
		synctest.Wait()
		if g = read(t, p); g.Devices[0].XidTotal != probes.Some[uint64](1) || g.Devices[1].XidTotal != probes.Some[uint64](0) {
			t.Errorf("after it broke: %v, %v", g.Devices[0].XidTotal, g.Devices[1].XidTotal)
		}
		p.Close()
		if want := fmt.Sprint(map[int]int{0: 2, 1: 1, 2: 2, 3: 2, 4: 2, 5: 1, 6: 2, 7: 2}); fmt.Sprint(from.registered) != want || !from.released {
			t.Errorf("registered %v, want %s; released %v", from.registered, want, from.released)
		}
	})
}
