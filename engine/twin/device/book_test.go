package device_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"llmtop/engine/twin/device"
	"llmtop/engine/twin/knob"
	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
	"llmtop/rules/roofline"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// toy is an engine whose steps take what the GPUs let them take: it closes the loop that makes
// a slower clock a longer answer. Each of its GPUs has a share of the model.
type toy struct {
	rng     *rand.Rand
	fleet   *device.Fleet
	board   *knob.Board
	spec    device.Spec
	pid     int
	now     float64
	next    float64
	seq     uint64
	waiting []*toyRequest
	batch   []*toyRequest
	done    []*probes.Request
	loads   []device.Load
	took    []float64
}

type toyRequest struct {
	r                        probes.Request
	arrived, admitted, first float64
	left, out, want          int
}

func newToy(t *testing.T, seed uint64, gpus int) *toy {
	t.Helper()
	var spec device.Spec
	for _, g := range roofline.GPUs {
		if g.Name == "h100" {
			spec = device.SpecOf(g)
		}
	}
	e := &toy{rng: rand.New(rand.NewPCG(seed, 9)), board: knob.NewBoard(gpus, 1), spec: spec, pid: 700, loads: make([]device.Load, gpus), took: make([]float64, gpus)}
	pids := make([]int, gpus)
	for i := range pids {
		pids[i] = e.pid
	}
	e.fleet = device.New(device.Config{Spec: spec, GPUs: gpus, PIDs: pids, Process: "toy", Board: e.board, Seed: seed, Spread: 0.05})
	return e
}

// What a step takes of a healthy GPU, in seconds.
const (
	weights = 0.016   // to read them
	prompt  = 0.00012 // for each token of a prompt
	each    = 0.00012 // for each sequence
	gap     = 0.001   // between kernels
	budget  = 1024    // tokens of prompts in a step
)

func (e *toy) arrive() {
	const rate = 2.5
	for ; e.next <= e.now; e.next += e.rng.ExpFloat64() / rate {
		e.seq++
		q := &toyRequest{arrived: e.next, left: 600 + e.rng.IntN(400), want: 80 + e.rng.IntN(80)}
		q.r = probes.Request{Seq: e.seq, ID: fmt.Sprint(e.seq), PromptTokens: q.left}
		e.waiting = append(e.waiting, q)
	}
}

// step computes one step of all GPUs and lets the time pass.
func (e *toy) step() {
	for len(e.batch) < 32 && len(e.waiting) > 0 {
		q := e.waiting[0]
		e.waiting, q.admitted = e.waiting[1:], e.now
		e.batch = append(e.batch, q)
	}
	tokens := 0
	var ready []*toyRequest
	for _, q := range e.batch {
		n := min(q.left, budget-tokens)
		q.left, tokens = q.left-n, tokens+n
		if q.left == 0 {
			ready = append(ready, q)
		}
	}
	e.compute(float64(tokens)*prompt, float64(len(e.batch)))
	kept := e.batch[:0]
	for _, q := range ready {
		if q.out++; q.out == 1 {
			q.first = e.now
		}
	}
	for _, q := range e.batch {
		if q.out >= q.want {
			e.done = append(e.done, e.record(q, true))
			continue
		}
		kept = append(kept, q)
	}
	e.batch = kept
}

// compute is the step on each GPU; all wait for the slowest.
func (e *toy) compute(prefill, sequences float64) {
	longest := 0.0
	for i := range e.took {
		c := e.fleet.Condition(i)
		compute, memory := prefill/(c.Clock*c.Compute), (weights+each*sequences)/c.Bandwidth
		if len(e.batch) == 0 {
			memory = 0
		}
		e.took[i] = (compute + memory) / c.Share
		longest = max(longest, e.took[i])
	}
	if longest == 0 {
		longest = 0.005 // nothing to do
	}
	for i := range e.took {
		l := &e.loads[i]
		*l = device.Load{MemoryBytes: 7e10, Batch: sequences}
		if e.took[i] > 0 {
			l.Kernel, l.Idle = duration(longest), duration(longest-e.took[i])
			c := e.fleet.Condition(i)
			l.Tensor, l.Bytes = duration(0.65*prefill/c.Clock+0.1*weights), (0.75*(weights+each*sequences)+0.3*prefill)*e.spec.Bandwidth
		}
	}
	e.now += longest + gap
	e.fleet.Advance(duration(e.now), duration(longest+gap), e.loads)
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * 1e9) }

func (e *toy) record(q *toyRequest, finished bool) *probes.Request {
	r := q.r
	r.OutputTokens = q.out
	switch {
	case q.admitted == 0:
		r.State, r.Stages[probes.StageQueue] = "queue", e.now-q.arrived
	case q.first == 0:
		r.State, r.Stages[probes.StageQueue], r.Stages[probes.StagePrefill] = "prefill", q.admitted-q.arrived, e.now-q.admitted
	default:
		r.State, r.TTFTSeconds = "decode", probes.Some(q.first-q.arrived)
		r.Stages[probes.StageQueue], r.Stages[probes.StagePrefill], r.Stages[probes.StageDecode] = q.admitted-q.arrived, q.first-q.admitted, e.now-q.first
	}
	if finished {
		r.State, r.Finish, r.E2ESeconds = "finished", "stop", probes.Some(e.now-q.arrived)
	}
	return &r
}

// sample is what probes see after second n.
func (e *toy) sample(n int) *probes.Sample {
	for e.now < float64(n) {
		e.arrive()
		e.step()
	}
	at := start.Add(time.Duration(n) * time.Second)
	section := &probes.Requests{At: at, Endpoint: "http://toy", Finished: e.done, InFlight: len(e.waiting) + len(e.batch)}
	e.done = nil
	for _, q := range e.batch {
		section.Running = append(section.Running, e.record(q, false))
	}
	for _, q := range e.waiting {
		section.Running = append(section.Running, e.record(q, false))
	}
	return &probes.Sample{Seq: uint64(n), At: at, Mono: time.Duration(n) * time.Second, Interval: time.Second, Simulated: true,
		Requests: []*probes.Requests{section}, GPU: e.fleet.Section(at), Process: &probes.Process{At: at, PID: e.pid, Name: "toy"}}
}

// The book names what was turned, from what the simulated devices and the engine on them show.
func TestBookNamesWhatWasTurned(t *testing.T) {
	book, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cause string
		turns []knob.Change
	}{
		{"", nil},
		{"power-cap", []knob.Change{{Knob: knob.PowerCap, Target: knob.All, Value: 250}}},
		{"thermal-throttle", []knob.Change{{Knob: knob.Cooling, Target: knob.All, Value: 0.22}}},
		{"power-brake", []knob.Change{{Knob: knob.PowerBrake, Target: knob.All, Value: 1}}},
		{"gpu-shared", []knob.Change{{Knob: knob.OtherKernels, Target: 0, Value: 0.5}, {Knob: knob.OtherMemory, Target: 0, Value: 3}}},
		{"gpu-hardware-fault", []knob.Change{{Knob: knob.Xid, Target: 1, Value: 95}, {Knob: knob.Compute, Target: 1, Value: 0.3}}},
	} {
		t.Run("turned: "+c.cause, func(t *testing.T) {
			e := newToy(t, 3, 2)
			d := rules.NewDiagnoser(book, rules.Options{})
			named := map[string]int{}
			for n := 1; n <= 300; n++ {
				if n == 150 {
					for _, turn := range c.turns {
						if err := e.board.Apply(turn); err != nil {
							t.Fatal(err)
						}
					}
				}
				tick := d.Observe(e.sample(n))
				if causes := tick.Diagnosis.Causes; len(causes) > 0 && n > 160 {
					named[causes[0].ID]++
				}
			}
			if c.cause == "" && len(named) > 0 {
				t.Errorf("named of a healthy engine: %v", named)
			}
			most := 0
			for _, n := range named {
				most = max(most, n)
			}
			if c.cause != "" && (named[c.cause] < 10 || named[c.cause] < most) {
				t.Errorf("first among the causes: %v", named)
			}
		})
	}
}

// What is recorded is read back as it was.
func TestRecordingKeepsTheSections(t *testing.T) {
	e := newToy(t, 5, 8)
	path := filepath.Join(t.TempDir(), "a.llmrec")
	w, err := record.Create(path, record.Manifest{Host: "twin", Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var want []*probes.GPU
	for n := 1; n <= 30; n++ {
		if n == 15 {
			if err := e.board.Apply(knob.Change{Knob: knob.GPULost, Target: 6, Value: 1}); err != nil {
				t.Fatal(err)
			}
		}
		s := e.sample(n)
		want = append(want, s.GPU)
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range want {
		s, err := r.At(i)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Simulated || !reflect.DeepEqual(s.GPU, want[i]) {
			t.Fatalf("sample %d: %+v, want %+v", i, s.GPU, want[i])
		}
	}
}
