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

// info is how the engine is set up now.
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

// resized tells the page when the KV cache has another size than before. What the page says of
// the settings stays as the process began with it: no engine is set up anew while it runs, and a
// turned knob is a fault that nobody has written down.
func (r *replica) resized() {
	if r.page != nil && r.said != r.pool() && r.said != 0 {
		r.page.Resized(r.pool())
	}
	r.said = r.pool()
}

// setup is how an engine process was set up as it began, as its command line would say.
type setup struct {
	exposition.Info
	graphs, caching bool
	graphMax        float64 // NaN: the model's own
}

// setUp notes the setup of a process that begins to serve.
func (r *replica) setUp() {
	b, n := r.sim.board, r.index
	r.setup = setup{
		Info: r.info(), graphs: b.OnAt(knob.Graphs, n), caching: !r.sim.scenario.NoPrefix && b.OnAt(knob.PrefixCaching, n),
		graphMax: b.At(knob.GraphMax, n),
	}
}
