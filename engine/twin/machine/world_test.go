package machine_test

import (
	"testing"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/machine"
	"llmtop/probes"
	"llmtop/rules"
)

var began = time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)

// world is a host with engines whose work is what it would be on free cores, and takes as
// long as the host says: a thread that cannot keep up does as much as it can.
type world struct {
	*machine.Host
	board *knob.Board
	now   time.Duration
	step  time.Duration
	asks  machine.Load // of each replica in each second, on free cores
	loads []machine.Load
	done  float64 // CPU seconds of all loads
}

// busy is an engine at work: half a core of its event loop, a quarter of a tokenizer, a step
// most of the time.
func busy() machine.Load {
	l := machine.Load{Stepping: 700 * time.Millisecond, Requests: 20, Steps: 30, BytesIn: 80e3, BytesOut: 900e3, Connections: 120, Up: true}
	for part, ms := range map[machine.Part]time.Duration{machine.Receive: 60, machine.Tokenize: 250, machine.Assemble: 40, machine.Schedule: 180, machine.GrammarMask: 30, machine.Launch: 250,
		machine.Sampling: 40, machine.Detokenize: 200, machine.Send: 150, machine.Logging: 20, machine.GC: 10} {
		l.CPU[part] = ms * time.Millisecond
	}
	return l
}

// fataler is a test, of testing or of rapid.
type fataler interface {
	Helper()
	Fatal(...any)
}

func config() machine.Config {
	return machine.Config{Cores: 64, GPUs: 8, Replicas: 2, TP: 4, Personality: "vllm", Ports: 8, WeightBytes: 140e9, Seed: 7, Spread: 0.1, Start: began}
}

// threads are the parts that one thread does, in an engine with an event loop.
var threads = [][]machine.Part{
	{machine.Receive, machine.Assemble, machine.Detokenize, machine.Send, machine.Logging, machine.GC},
	{machine.Tokenize}, {machine.Images}, {machine.GrammarCompile},
	{machine.Schedule, machine.GrammarMask, machine.Launch, machine.Sampling, machine.Compile},
}

// fit lets a thread do no more than there is time for, and returns how much that is.
func fit(l *machine.Load, parts []machine.Part, most float64) (sum float64) {
	for _, p := range parts {
		sum += l.CPU[p].Seconds()
	}
	if sum <= most {
		return sum
	}
	for _, p := range parts {
		l.CPU[p] = time.Duration(float64(l.CPU[p]) * most / sum)
	}
	return most
}

func newWorld(t fataler, c machine.Config) *world {
	t.Helper()
	w := &world{board: knob.NewBoard(max(c.GPUs, 1), c.Replicas), step: time.Second, asks: busy(), loads: make([]machine.Load, c.Replicas)}
	c.Board = w.board
	h, err := machine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w.Host = h
	return w
}

func (w *world) turn(t fataler, id knob.ID, value float64) {
	t.Helper()
	if err := w.board.Apply(knob.Change{Knob: id, Target: knob.All, Value: value}); err != nil {
		t.Fatal(err)
	}
}

// advance lets one step pass.
func (w *world) advance() {
	w.now += w.step
	for i := range w.loads {
		l, slow := w.asks, w.Slowdown(i)
		for p := range l.CPU {
			l.CPU[p] = l.CPU[p] * w.step / time.Second
		}
		for _, parts := range threads {
			w.done += fit(&l, parts, w.step.Seconds()/slow)
		}
		work := l.CPU[machine.Launch] + l.CPU[machine.Sampling] + l.CPU[machine.Schedule]
		l.Stepping = min(w.step, l.Stepping*w.step/time.Second+time.Duration(float64(work)*(slow-1)))
		w.loads[i] = l
	}
	w.Advance(w.now, w.step, w.loads)
}

// sample is what is read now.
func (w *world) sample() *probes.Sample {
	at := began.Add(w.now)
	s := &probes.Sample{At: at, Mono: w.now, Interval: time.Second, Simulated: true}
	host, process, neighbours, sockets := w.Sections(at)
	host.AddTo(s)
	if process != nil {
		process.AddTo(s)
	}
	neighbours.AddTo(s)
	sockets.AddTo(s)
	return s
}

// watch lets so many seconds pass and returns what the product sees at the end.
func (w *world) watch(t testing.TB, seconds int) *rules.Tick {
	t.Helper()
	book, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	d := rules.NewDiagnoser(book, rules.Options{})
	var tick *rules.Tick
	for range seconds {
		w.advance()
		tick = d.Observe(w.sample())
	}
	return tick
}
