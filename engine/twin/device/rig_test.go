package device

import (
	"testing"
	"time"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/probes"
	"llmtop/rules/roofline"
)

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// specOf is a board of the table.
func specOf(t testing.TB, name string) Spec {
	t.Helper()
	for _, g := range roofline.GPUs {
		if g.Name == name {
			return SpecOf(g)
		}
	}
	t.Fatalf("no GPU %q in the table", name)
	return Spec{}
}

// rig is a fleet under an engine that a test plays.
type rig struct {
	t     testing.TB
	f     *Fleet
	board *knob.Board
	now   time.Duration
	loads []Load
	work  func(i int, c cost.GPU, span time.Duration) Load
}

func newRig(t testing.TB, name string, gpus int, work func(i int, c cost.GPU, span time.Duration) Load) *rig {
	b := knob.NewBoard(gpus, 1)
	pids := make([]int, gpus)
	for i := range pids {
		pids[i] = 4000 + i
	}
	f := New(Config{Spec: specOf(t, name), GPUs: gpus, PIDs: pids, Process: "VLLM::Worker_TP", Near: twoSockets, Board: b, Seed: 7, Spread: 0.05})
	return &rig{t: t, f: f, board: b, loads: make([]Load, gpus), work: work}
}

func twoSockets(i int) (int, string) { return i / 4, [...]string{"0-31", "32-63"}[i/4] }

func (r *rig) turn(id knob.ID, target int, value float64) {
	r.t.Helper()
	if err := r.board.Apply(knob.Change{Knob: id, Target: target, Value: value}); err != nil {
		r.t.Fatal(err)
	}
}

// run plays the engine for so long, 50 ms at a time.
func (r *rig) run(d time.Duration) *rig {
	const span = 50 * time.Millisecond
	for end := r.now + d; r.now < end; {
		for i := range r.loads {
			r.loads[i] = r.work(i, r.f.Condition(i), span)
		}
		r.now += span
		r.f.Advance(r.now, span, r.loads)
	}
	return r
}

func (r *rig) section() *probes.GPU { return r.f.Section(day.Add(r.now)) }

// mix is an engine at work: a share of the time in kernels, of that a share in which tensor cores
// work, of memory bandwidth so much.
func mix(kernel, tensor, dram float64) func(s *Spec, c cost.GPU, span time.Duration) Load {
	return func(s *Spec, c cost.GPU, span time.Duration) Load {
		k := kernel * span.Seconds()
		return Load{Kernel: seconds(k), Tensor: seconds(k * tensor * c.Share), Bytes: k * dram * s.Bandwidth * c.Share * c.Bandwidth,
			LinkBytes: k * 0.1 * s.LinkBandwidth, PCIeBytes: k * 1e8, Batch: 64, MemoryBytes: 0.9 * s.Memory}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

// alike is the same mix on each GPU.
func alike(s *Spec, m func(*Spec, cost.GPU, time.Duration) Load) func(int, cost.GPU, time.Duration) Load {
	return func(_ int, c cost.GPU, span time.Duration) Load { return m(s, c, span) }
}

var (
	decoding   = mix(0.95, 0.2, 0.7)
	prefilling = mix(0.95, 0.65, 0.3)
	nothing    = mix(0, 0, 0)
)

func loaded(t testing.TB, name string, gpus int, m func(*Spec, cost.GPU, time.Duration) Load) *rig {
	s := specOf(t, name)
	return newRig(t, name, gpus, alike(&s, m))
}

func (r *rig) each(do func(d *probes.GPUDevice)) {
	g := r.section()
	for i := range g.Devices {
		do(&g.Devices[i])
	}
}
