package machine_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/machine"
	"llmtop/probes"
	"llmtop/rules"
)

// mark is what a signal must say: between least and most.
type mark struct {
	signal      string
	least, most float64
}

var inf = math.Inf(1)

// none is a signal that must have no value.
func none(signal string) mark { return mark{signal, math.NaN(), math.NaN()} }

func atLeast(signal string, v float64) mark { return mark{signal, v, inf} }
func atMost(signal string, v float64) mark  { return mark{signal, -inf, v} }

// Marks that the look-alikes of a fault must not have.
var (
	notThrottled = none("process.throttled")
	noStall      = atMost("process.blocked", 0.1)
	noSwap       = atMost("host.swap_in", 1)
	calmDisk     = atMost("host.disk_wait", 0.01)
	freeCores    = atMost("process.run_wait", 0.05)
	noSteal      = atMost("host.steal", 0)
	ownCores     = atMost("host.other_share", 0.05)
	cleanNet     = atMost("host.retransmits", 0.005)
	quick        = atMost("socket.stuck", 0)
	near         = atMost("host.net_share", 0.1)
)

// Each knob shows its own marks and not those of what looks like it.
func TestMarks(t *testing.T) {
	for _, c := range []struct {
		name  string
		turn  map[knob.ID]float64
		asks  func(*machine.Load)
		slow  [2]float64 // the slowdown, between
		marks []mark
	}{
		{name: "healthy", slow: [2]float64{1, 1.05}, marks: []mark{notThrottled, noStall, noSwap, calmDisk, freeCores, noSteal, ownCores, cleanNet, quick, near,
			{"host.cpu_busy", 0.08, 0.2}, {"process.cpu_cores", 5, 9}, atMost("host.cpu_pressure", 0.2), atMost("host.io_pressure", 0.02), {"process.busiest_thread", 0.6, 0.9},
			{"process.cpus_allowed", 64, 64}, none("process.cpu_limit"), atMost("host.cpu_full_cores", 0), {"socket.connections", 240, 240}, atMost("process.gil_suspects", 0)}},
		{name: "quota", turn: map[knob.ID]float64{knob.CPUQuota: 4}, slow: [2]float64{1.7, 4}, marks: []mark{noStall, noSwap, calmDisk, noSteal, ownCores, cleanNet, quick,
			atLeast("process.throttled", 0.95), atLeast("process.throttled_time", 1), atLeast("process.run_wait", 0.4), {"process.cpu_cores", 3.7, 4.01}, {"process.cpu_limit", 4, 4}, atMost("host.cpu_busy", 0.1)}},
		{name: "neighbours", turn: map[knob.ID]float64{knob.CPUNeighbour: 160}, slow: [2]float64{2.2, 3.2}, marks: []mark{notThrottled, noStall, noSwap, calmDisk, noSteal, cleanNet, quick,
			atLeast("host.other_share", 0.85), atLeast("process.run_wait", 0.5), atLeast("host.cpu_pressure", 0.98), atLeast("host.cpu_busy", 0.99), atLeast("neighbour.cpu", 10), {"host.cpu_full_cores", 64, 64}}},
		{name: "threads", turn: map[knob.ID]float64{knob.CPUThreads: 10}, slow: [2]float64{2, 3}, marks: []mark{notThrottled, noStall, noSwap, calmDisk, noSteal, ownCores, quick,
			atLeast("process.run_wait", 0.5), atLeast("process.cpu_cores", 60), atLeast("host.cpu_pressure", 0.98), atMost("neighbour.cpu", 1)}},
		{name: "steal", turn: map[knob.ID]float64{knob.CPUSteal: 0.3}, slow: [2]float64{1.4, 1.5}, marks: []mark{notThrottled, noStall, noSwap, calmDisk, freeCores, cleanNet, quick,
			{"host.steal", 0.03, 0.08}, atMost("host.cpu_pressure", 0.2), atMost("neighbour.cpu", 1)}},
		{name: "memory", turn: map[knob.ID]float64{knob.MemoryPressure: 0.4}, slow: [2]float64{1.6, 1.75}, marks: []mark{notThrottled, freeCores, noSteal, ownCores, quick,
			atLeast("host.swap_in", 1000), atLeast("process.major_faults", 500), {"host.memory_pressure", 0.39, 0.41}, atLeast("process.blocked", 0.5), atMost("host.memory_available", 10<<30)}},
		{name: "disk", turn: map[knob.ID]float64{knob.Disk: 200}, asks: func(l *machine.Load) { l.Blocked = 850 * time.Millisecond }, slow: [2]float64{1, 1.05}, marks: []mark{notThrottled, noSwap, freeCores, noSteal, ownCores, quick,
			atLeast("process.blocked", 0.8), atLeast("host.disk_wait", 0.1), atLeast("host.disk_busy", 0.9), atLeast("host.io_pressure", 0.5), atMost("process.major_faults", 1)}},
		{name: "log to a pipe", turn: map[knob.ID]float64{knob.LogLine: 40}, asks: func(l *machine.Load) { l.Blocked = 850 * time.Millisecond }, slow: [2]float64{1, 1.05},
			marks: []mark{notThrottled, noSwap, freeCores, noStall, calmDisk, atMost("host.io_pressure", 0.02), {"process.busiest_thread", 0.6, 0.9}}},
		{name: "far node", turn: map[knob.ID]float64{knob.NUMARemote: 1}, slow: [2]float64{1.15, 1.5}, marks: []mark{notThrottled, noStall, noSwap, calmDisk, freeCores, noSteal, ownCores, quick,
			{"process.cpus_allowed", 32, 32}, atMost("host.cpu_pressure", 0.25)}},
		{name: "full network", turn: map[knob.ID]float64{knob.Network: 1}, asks: func(l *machine.Load) { l.BytesOut = 2e6 }, slow: [2]float64{1, 1.05}, marks: []mark{notThrottled, noStall, freeCores, cleanNet,
			{"host.net_share", 0.97, 1.01}, {"host.net_tx", 0.97e6, 1.01e6}, atLeast("socket.send_queue", 10e6)}},
		{name: "loss", turn: map[knob.ID]float64{knob.Retransmits: 0.04}, slow: [2]float64{1, 1.05}, marks: []mark{notThrottled, freeCores, near, {"host.retransmits", 0.038, 0.042}, quick}},
		{name: "slow readers", asks: func(l *machine.Load) { l.Slow, l.SendQueue = 3, 1.2e6 }, slow: [2]float64{1, 1.05}, marks: []mark{notThrottled, freeCores, cleanNet, near, {"socket.stuck", 6, 6}, atLeast("socket.send_queue", 2.3e6)}},
		{name: "one core", asks: func(l *machine.Load) {
			l.CPU[machine.Schedule] = 8 * time.Second
		}, slow: [2]float64{1, 1.05}, marks: []mark{notThrottled, freeCores, ownCores, noStall, {"process.busiest_thread", 0.95, 1}, atMost("host.cpu_pressure", 0.25)}},
		{name: "threads that take turns", asks: func(l *machine.Load) {
			l.CPU[machine.Receive], l.CPU[machine.Tokenize] = 200*time.Millisecond, 380*time.Millisecond
		}, slow: [2]float64{1, 1.05}, marks: []mark{notThrottled, freeCores, {"process.gil_suspects", 2, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, config())
			w.watch(t, 20)
			for id, v := range c.turn {
				w.turn(t, id, v)
			}
			if c.asks != nil {
				c.asks(&w.asks)
			}
			tick := w.watch(t, 60)
			if slow := w.Slowdown(0); slow < c.slow[0] || slow > c.slow[1] {
				t.Errorf("work takes %.3f times as long, want %v", slow, c.slow)
			}
			for _, m := range c.marks {
				v, ok := tick.Signals.Get(m.signal).Get()
				if want := !math.IsNaN(m.least); ok != want || ok && (v < m.least || v > m.most) {
					t.Errorf("%s = %g (%v), want %g to %g", m.signal, v, ok, m.least, m.most)
				}
			}
		})
	}
}

// Engines that are pinned to the far node are seen to be: by the cores that each process may
// run on and by the GPU that it uses.
func TestFarNode(t *testing.T) {
	far := func(remote float64) float64 {
		w := newWorld(t, config())
		w.turn(t, knob.NUMARemote, remote)
		book, err := rules.DefaultBook()
		if err != nil {
			t.Fatal(err)
		}
		d := rules.NewDiagnoser(book, rules.Options{})
		var tick *rules.Tick
		for range 5 {
			w.advance()
			s := w.sample()
			s.GPU = &probes.GPU{At: s.At, ProcessesAt: s.At}
			for i, pid := range w.PIDs() {
				uuid, cpus := "GPU-"+strconv.Itoa(i), "0-31"
				if i >= 4 {
					cpus = "32-63"
				}
				s.GPU.Devices = append(s.GPU.Devices, probes.GPUDevice{Index: i, UUID: uuid, CPUs: cpus})
				s.GPU.Processes = append(s.GPU.Processes, probes.GPUProcess{GPU: uuid, PID: pid, MemoryBytes: probes.Some(6e10)})
			}
			tick = d.Observe(s)
		}
		return tick.Signals.Get("process.numa_remote").Or(-1)
	}
	if near, away := far(0), far(1); near != 0.5 || away != 1 {
		t.Errorf("%g of an engine's cores are far when it may run on all, %g when it is pinned to the far ones", near, away)
	}
}

// What a fault did is over when the fault is.
func TestFaultsEnd(t *testing.T) {
	for _, id := range []knob.ID{knob.CPUQuota, knob.CPUNeighbour, knob.CPUThreads, knob.CPUSteal, knob.MemoryPressure, knob.Disk, knob.NUMARemote, knob.Network} {
		w := newWorld(t, config())
		w.watch(t, 10)
		w.turn(t, id, map[knob.ID]float64{knob.CPUQuota: 3, knob.CPUNeighbour: 200, knob.CPUThreads: 12, knob.CPUSteal: 0.4, knob.MemoryPressure: 0.5, knob.Disk: 300, knob.NUMARemote: 1, knob.Network: 1}[id])
		w.watch(t, 30)
		if err := w.board.Apply(knob.Change{Knob: id, Target: knob.All, Reset: true}); err != nil {
			t.Fatal(err)
		}
		tick := w.watch(t, 60)
		if slow := w.Slowdown(1); slow > 1.05 {
			t.Errorf("%s: work still takes %.2f times as long", knob.Table[id].Name, slow)
		}
		for signal, most := range map[string]float64{"process.run_wait": 0.05, "process.throttled": 0, "host.steal": 0, "host.swap_in": 0, "host.disk_wait": 0.01, "host.cpu_pressure": 0.2, "host.memory_pressure": 0.01,
			"process.blocked": 0.1, "socket.stuck": 0, "host.net_share": 0.1} {
			if v := tick.Signals.Get(signal).Or(0); v > most {
				t.Errorf("%s: %s is still %g", knob.Table[id].Name, signal, v)
			}
		}
		if free := tick.Signals.Get("host.memory_available").Or(0); free < 500<<30 {
			t.Errorf("%s: only %g bytes available", knob.Table[id].Name, free)
		}
	}
}
