package twin

import (
	"slices"

	"llmtop/engine"
	"llmtop/engine/twin/exposition"
	"llmtop/engine/twin/knob"
	"llmtop/probes"
)

// gauges sets what the gauges of the metrics page show, from the scheduler's stats.
func (r *replica) gauges(t engine.Stats) {
	w := &r.waits
	st := &r.state
	if !r.up {
		*st = exposition.State{Adapters: st.Adapters[:0]}
		return
	}
	*st = exposition.State{
		Deferred: w.all, Grammar: w.by[aGrammar], Transfer: w.by[aTransfer], Used: t.Used - len(r.withheld.table), Cached: t.Cached,
		Back: r.back, Swapped: r.swapped, RunningBy: t.Running, WaitingBy: t.Waiting, Adapters: st.Adapters[:0],
	}
	for i := range t.Running {
		st.Running += t.Running[i]
		st.WaitingBy[i] += w.byClass[i]
		st.Waiting += st.WaitingBy[i]
	}
	st.Used = min(st.Used, r.pool()) // while the cache shrinks
	st.Front = r.jobs.count - st.Running - st.Waiting - r.back
	for i := range r.adapters.slots {
		if a := &r.adapters.slots[i]; a.users > 0 {
			st.Adapters = append(st.Adapters, a.adapter)
		}
	}
	slices.Sort(st.Adapters)
}

// info is what the metrics page says of the engine.
func (r *replica) info() exposition.Info {
	sc, l := &r.sim.scenario, r.tuned()
	i := exposition.Info{
		Model: sc.Model.Name, BlockSize: r.blockSize, Blocks: r.pool(), MaxNumSeqs: l.MaxNumSeqs, TokenBudget: l.MaxBatchedTokens,
		MaxQueue: sc.MaxQueue, LongPrefill: l.LongPrefillTokenThreshold, Policy: l.Policy, Headroom: or(r.sim.board.At(knob.KVHeadroom, r.index), r.limits.Headroom), MinShare: l.MinShare,
		Ranks: len(r.gpus), PrefixCache: !sc.NoPrefix, Drafts: l.Drafts, Started: r.sim.time(r.launched),
	}
	if !r.slow.admit { // a fault, not a setting
		i.MaxNumSeqs = r.limits.MaxNumSeqs
	}
	switch p := sc.Prefills; {
	case p > 0 && r.index < p:
		i.Role = probes.Prefill
	case p > 0:
		i.Role = probes.Decode
	}
	return i
}

// reconfigured tells the page when a knob has changed what it says of the engine.
func (r *replica) reconfigured() {
	i := r.info()
	if before := r.said; r.page != nil && before != i && before.Started.Equal(i.Started) && !before.Started.IsZero() {
		r.page.Reconfigured(i)
	}
	r.said = i
}
