package live

import (
	"context"
	"sync"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/device"
	"llmtop/engine/twin/exposition"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/machine"
	"llmtop/probes"
)

// Config is what a twin is made of.
type Config struct {
	Title    string // what is simulated: "h100x8, llama-3-70b"
	Cost     cost.Model
	Board    *knob.Board
	Timeline []twin.Event // in order
	Ranks    int          // GPUs of the engine, the first of the host's
	Context  int          // most tokens of a sequence
	Memory   float64      // bytes that the engine holds on each GPU
	Front    cost.Front
	Answers  Lengths
	Seed     uint64

	Page  func(started time.Time) (exposition.Page, error) // in place of the engine's own metrics; nil: they stay
	Fleet Fleet                                            // the GPUs of the host; nil: none are to be seen
	Host  Host                                             // nil: it is not to be seen
}

// Fleet are the GPUs of a host, as package device has them.
type Fleet interface {
	Advance(now, span time.Duration, loads []device.Load)
	Condition(gpu int) cost.GPU
	Section(at time.Time) *probes.GPU
}

// Host is a host, as package machine has it.
type Host interface {
	Advance(now, span time.Duration, loads []machine.Load)
	Slowdown(replica int) float64
	Sections(at time.Time) (*probes.Host, *probes.Process, *probes.Neighbours, *probes.Sockets)
	Profile(replica int, at time.Time, seconds float64) (*probes.Profile, error)
}

// Twin is a simulated engine in real time. It is the engine's Runner and its Observer; Live
// must be called beside the engine's.
type Twin struct {
	config  Config
	started time.Time
	done    chan struct{} // closed when it ends
	front   *front
	pace    pacer // the loop's own, like the next
	answers *answers
	results []engine.Result
	tokens  []int

	engine *engine.Engine // set before anything runs

	mu         sync.Mutex
	board      *knob.Board
	pending    []twin.Event
	turns      int // of knobs so far
	conditions cost.Conditions
	now        time.Time // until when all below has been taken in
	step       progress
	loads      []device.Load // since now
	load       machine.Load
	open       int // requests that are here
	cpu        float64

	tuned  int // turns that the scheduler knows of; the loop's own
	limits engine.Limits

	page *page // nil: the engine's own
}

// New returns a twin that begins now.
func New(c Config) (*Twin, error) {
	t := &Twin{config: c, started: time.Now(), done: make(chan struct{}), board: c.Board, pending: c.Timeline, cpu: 1}
	t.now = t.started
	t.pace.done = t.done
	t.front = &front{Front: c.Front, done: t.done, event: threads{free: make([]time.Time, 1)}}
	t.front.turn(factorsOf(c.Board, 1))
	t.answers = newAnswers(c.Answers, c.Seed)
	t.loads = make([]device.Load, c.Ranks)
	t.conditions = cost.Conditions{Board: c.Board, GPUs: make([]cost.GPU, c.Ranks), CPU: 1}
	for i := range t.conditions.GPUs {
		t.conditions.GPUs[i] = cost.GPU{Clock: 1, Compute: 1, Bandwidth: 1, Share: 1, Link: 1}
	}
	if c.Page != nil {
		p, err := c.Page(t.started)
		if err != nil {
			return nil, err
		}
		t.page = &page{page: p}
	}
	t.mu.Lock()
	t.advance(t.started)
	t.mu.Unlock()
	return t, nil
}

// Configure makes the twin the engine's model.
func (t *Twin) Configure(c *engine.Config) {
	c.Runner, c.Tokenizer, c.Observer = t, Vocabulary{t.front}, t
	c.WrapTokenizer = func(v engine.Tokenizer) engine.Tokenizer { return v } // no encodings are kept: each text takes its time
	c.ChatTemplate = chatTemplate
}

// Title says what is simulated.
func (t *Twin) Title() string { return t.config.Title }

// Lost is by how much steps took longer than modelled, since this machine was too busy. Safe
// for concurrent use.
func (t *Twin) Lost() time.Duration { return time.Duration(t.pace.lost.Load()) }

// Serve tells the twin which engine it is the model of, before that runs.
func (t *Twin) Serve(e *engine.Engine) { t.engine = e }

// tick is how often knobs are turned and the state of GPUs and host goes on.
const tick = 100 * time.Millisecond

// Live lets time pass for GPUs and host until the context ends.
func (t *Twin) Live(ctx context.Context) {
	defer close(t.done)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			t.mu.Lock()
			t.advance(now)
			t.mu.Unlock()
		}
	}
}

// Turn turns a knob now.
func (t *Twin) Turn(c knob.Change) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.turn(c)
}

func (t *Twin) turn(c knob.Change) error {
	if err := t.board.Apply(c); err != nil {
		return err
	}
	t.turns++
	return nil
}

// advance takes in what has happened until now; the caller holds mu.
func (t *Twin) advance(now time.Time) {
	for len(t.pending) > 0 && t.pending[0].At <= now.Sub(t.started) {
		_ = t.turn(t.pending[0].Change) // they were checked at the start
		t.pending = t.pending[1:]
	}
	for p, d := range t.front.turn(factorsOf(t.board, t.cpu)) {
		t.load.CPU[p] += d
	}
	if span := now.Sub(t.now); span > 0 {
		t.now = now
		t.step.charge(now, t)
		t.pass(now, span)
	}
}

// pass lets GPUs and host know of a span.
func (t *Twin) pass(now time.Time, span time.Duration) {
	since := now.Sub(t.started)
	if f := t.config.Fleet; f != nil {
		for i := range t.loads {
			l := &t.loads[i]
			l.MemoryBytes = t.config.Memory
			if l.Kernel > 0 {
				l.Batch /= float64(l.Kernel)
			}
		}
		f.Advance(since, span, t.loads)
		for i := range t.conditions.GPUs {
			t.conditions.GPUs[i] = f.Condition(i)
		}
		clear(t.loads)
	}
	if h := t.config.Host; h != nil {
		t.load.Connections, t.load.Up = t.open, true
		t.load.Blocked += times(logLine(t.board), float64(t.load.Requests), 1)
		t.load.CPU[machine.GC] += times(span, 1, or(t.board.At(knob.GC, 0), 0))
		h.Advance(since, span, []machine.Load{t.load})
		t.cpu = h.Slowdown(0)
		t.conditions.CPU = t.cpu
		t.load = machine.Load{}
	}
}
