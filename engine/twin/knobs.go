package twin

import (
	"math"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/knob"
)

// factors are the knobs of a replica as its parts want them.
type factors struct {
	parse, tokenizer, assemble, detokenizer, multimodal, grammar, adapter float64

	lock    float64
	auth    time.Duration // for which each request waits
	line    time.Duration // for each line that is logged,
	verbose time.Duration // of it, not for the disk
	admit   bool
	hang    bool
	shapes  float64 // share of steps with a new one
	holds   float64 // chance that a guess does
}

// dueTurn is when the next change of the scenario comes.
func (s *Simulation) dueTurn() time.Duration {
	if len(s.turns) == 0 {
		return never
	}
	return max(s.turns[0].At, s.now)
}

// turn carries out the scenario's changes of this moment.
func (s *Simulation) turn() {
	for len(s.turns) > 0 && s.turns[0].At <= s.now {
		s.note(s.board.Apply(s.turns[0].Change))
		s.turns = s.turns[1:]
	}
	s.turned()
}

// turned looks at the knobs anew.
func (s *Simulation) turned() {
	s.retune()
	s.source.Turned(s.now)
	for _, c := range s.board.Take(knob.Upgrade) {
		s.each(c.Target, func(r *replica) { r.upgrade(c.Value) })
	}
	for _, c := range s.board.Take(knob.Restart) {
		s.each(c.Target, (*replica).restart)
	}
	for _, r := range s.replicas {
		r.lose(r.gone || r.lacksGPU())
		r.step() // what it was waiting for may be there
	}
}

// each does something for the replica of a change, or for all.
func (s *Simulation) each(target int, do func(r *replica)) {
	for _, r := range s.replicas {
		if target == knob.All || target == r.index {
			do(r)
		}
	}
}

func (s *Simulation) retune() {
	s.network.rate = or(s.board.Value(knob.Network), 0) * 1e6
	s.network.resent = or(s.board.Value(knob.Retransmits), 0)
	s.network.quantum = milliseconds(or(s.board.Value(knob.FrameQuantum), 0))
	s.network.nagle = milliseconds(or(s.board.Value(knob.NagleDelay), 0))
	s.buffered = s.board.On(knob.ProxyBuffer)
	s.clients = or(s.board.Value(knob.ClientLimit), math.Inf(1))
	for _, r := range s.replicas {
		s.note(r.retune())
	}
}

func (r *replica) retune() error {
	b, n, sc := r.sim.board, r.index, &r.sim.scenario
	r.weight = b.At(knob.RouteWeight, n)
	r.slow = factors{
		parse: b.At(knob.Parse, n), tokenizer: b.At(knob.Tokenizer, n), assemble: b.At(knob.Assemble, n), detokenizer: b.At(knob.Detokenizer, n),
		multimodal: b.At(knob.Multimodal, n), grammar: b.At(knob.GrammarCompile, n), adapter: b.At(knob.LoRALoad, n),
		lock: or(b.At(knob.Lock, n), 0), auth: milliseconds(or(b.At(knob.Auth, n), 0)), verbose: milliseconds(or(b.At(knob.LogLine, n), 0)),
		admit: b.OnAt(knob.Admission, n), hang: b.OnAt(knob.Hang, n), shapes: or(b.At(knob.NewShapes, n), 0),
		holds: min(1, r.sim.front.Acceptance*b.At(knob.SpecAcceptance, n)),
	}
	r.slow.line = r.slow.verbose + milliseconds(or(b.Value(knob.Disk), 0))
	r.caching = b.OnAt(knob.PrefixCaching, n)
	r.pauses.set(or(b.At(knob.GC, n), 0), r.sim.now)
	r.tokenizer.resize(int(or(b.At(knob.TokenizerThreads, n), float64(max(1, r.sim.front.Threads)))))
	r.adapters.resize(r, int(or(b.At(knob.LoRASlots, n), float64(sc.Slots))))
	r.withheld.want(r.blocks.Total() - max(1, int(math.Round(float64(r.base)*b.At(knob.KVPool, n)))))
	if err := r.scheduler.Retune(r.tuned()); err != nil {
		return err
	}
	r.resized()
	r.watch()
	return nil
}

// tuned is the limits as the knobs have them. More sequences than tokens in a step
// cannot be, so the smaller one counts.
func (r *replica) tuned() (l engine.Limits) {
	b, n := r.sim.board, r.index
	l = r.limits
	l.MaxBatchedTokens = int(or(b.At(knob.TokenBudget, n), float64(l.MaxBatchedTokens)))
	l.MaxNumSeqs = min(int(or(b.At(knob.MaxNumSeqs, n), float64(l.MaxNumSeqs))), l.MaxBatchedTokens)
	l.LongPrefillTokenThreshold = int(or(b.At(knob.PrefillChunk, n), float64(l.LongPrefillTokenThreshold)))
	l.Headroom = or(b.At(knob.KVHeadroom, n), l.Headroom) * float64(r.pool()) / float64(r.blocks.Total()) // a share of what is there
	if !r.slow.admit {
		l.MaxNumSeqs = 0
	}
	return l
}

// most is the largest number of blocks that the scenario ever turns the pool to.
func (r *replica) most() int {
	most := 1.0
	for _, e := range r.sim.scenario.Timeline {
		if c := e.Change; c.Knob == knob.KVPool && !c.Reset && (c.Target == knob.All || c.Target == r.index) {
			most = max(most, c.Value)
		}
	}
	return int(math.Ceil(most * float64(r.base)))
}

// lacksGPU reports whether one of its GPUs has fallen off the bus.
func (r *replica) lacksGPU() bool {
	n := len(r.gpus)
	for i := r.index * n; i < (r.index+1)*n; i++ {
		if i < r.sim.scenario.GPUs && r.sim.board.OnAt(knob.GPULost, i) {
			return true
		}
	}
	return false
}

// pool is the blocks that the cache has, or will have once those are free that it loses.
func (r *replica) pool() int { return r.blocks.Total() - r.withheld.wanted }

// or is a value, or another where the model decides.
func or(value, otherwise float64) float64 {
	if math.IsNaN(value) {
		return otherwise
	}
	return value
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

func seconds(s float64) time.Duration {
	if s > float64(never)/2e9 {
		return never / 2
	}
	return time.Duration(s * float64(time.Second))
}
