package live

import (
	"fmt"
	"math"

	"llmtop/engine"
	"llmtop/engine/twin/knob"
)

// Turnable refuses the knobs of what there is none of in real time: requests come from
// clients, and one engine answers them.
func Turnable(c knob.Change) error {
	for _, id := range fixed {
		if c.Knob == id {
			return fmt.Errorf("%s cannot be turned in real time", knob.Table[id].Name)
		}
	}
	return nil
}

// fixed are the knobs of the load, and those of parts that only a run in virtual time has.
var fixed = []knob.ID{
	knob.Rate, knob.PromptTokens, knob.PrefixReuse, knob.Prefixes, knob.GiantPrompts, knob.GiantTokens, knob.Adapters, knob.Guided, knob.Schemas,
	knob.Images, knob.SlowReaders, knob.ClientLimit,
	knob.PrefixCaching, knob.NewShapes, knob.SpecAcceptance, knob.Restart, knob.Upgrade, knob.LoadTime, knob.RouteWeight, knob.Transfer, knob.Metrics,
	knob.Auth, knob.Multimodal, knob.GrammarCompile, knob.GrammarMask, knob.LoRASlots, knob.LoRALoad, knob.Lock,
	knob.Network, knob.ProxyBuffer, knob.FrameQuantum, knob.NagleDelay,
}

// Begins turns the knobs of the scheduler.
func (t *Twin) Begins(s *engine.Scheduler) {
	t.mu.Lock()
	turns := t.turns
	limits, pool := t.tune(s)
	t.mu.Unlock()
	total := s.Stats().Used + s.Stats().Cached + s.Stats().Free + s.Stats().Withheld
	if pool < 1 {
		s.Withhold(total - int(math.Ceil(pool*float64(total))))
	} else {
		s.Withhold(0)
	}
	if turns != t.tuned {
		t.tuned = turns
		_ = s.Retune(limits) // tune keeps within what the scheduler takes
	}
}

// tune is what the knobs make of the limits that the engine has begun with, and the share of
// the blocks that there are.
func (t *Twin) tune(s *engine.Scheduler) (l engine.Limits, pool float64) {
	if t.limits.MaxNumSeqs == 0 {
		t.limits = s.Limits()
	}
	l, b := t.limits, t.board
	whole := func(id knob.ID, was int) int { return int(or(b.At(id, 0), float64(was))) }
	l.MaxNumSeqs = whole(knob.MaxNumSeqs, l.MaxNumSeqs)
	l.MaxBatchedTokens = max(whole(knob.TokenBudget, l.MaxBatchedTokens), l.MaxNumSeqs)
	l.LongPrefillTokenThreshold = whole(knob.PrefillChunk, l.LongPrefillTokenThreshold)
	l.Headroom = or(b.At(knob.KVHeadroom, 0), l.Headroom)
	if !b.OnAt(knob.Admission, 0) {
		l.MaxNumSeqs = 0
	}
	return l, b.At(knob.KVPool, 0)
}
