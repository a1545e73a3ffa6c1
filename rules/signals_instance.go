package rules

import "llmtop/probes"

// instanceRows tell whether one instance differs from its peers: replicas, data-parallel
// ranks, instances of one role.
func instanceRows() []Signal {
	const needs = "engine metrics of two instances"
	worst := func(of func(*Instance) probes.Opt[float64]) func(*now) probes.Opt[float64] {
		return func(n *now) probes.Opt[float64] {
			out := missing()
			for i := range n.told {
				if v, ok := of(&n.told[i]).Get(); ok && (!out.Seen() || v > out.Or(0)) {
					out = probes.Some(v)
				}
			}
			return out
		}
	}
	return []Signal{
		{Name: "instance.count", Title: "instances", Unit: "count", Kind: "instance", Step: 1, at: func(n *now) probes.Opt[float64] {
			if len(n.told) == 0 {
				return missing()
			}
			return probes.Some(float64(len(n.told)))
		}, Formula: "engines told apart: endpoints, and data-parallel ranks behind one", Source: "engine metrics", Needs: "engine metrics", Export: exportName("instance.count", "count", "")},
		{Name: "instance.silent", Title: "silent instances", Unit: "count", Kind: "instance", Step: 1, at: func(n *now) probes.Opt[float64] {
			if len(n.told) == 0 {
				return missing()
			}
			silent := 0.0
			for i := range n.told {
				if n.told[i].Silent > 0 {
					silent++
				}
			}
			return probes.Some(silent)
		}, Formula: "instances whose metrics are too old to stand for now", Source: "engine metrics", Needs: "engine metrics", Export: exportName("instance.silent", "count", "")},
		{Name: "instance.ttft_factor", Title: "TTFT of the slowest instance over its peers'", Unit: "count", Kind: "instance", Step: 0.3, at: worst(func(i *Instance) probes.Opt[float64] { return i.TTFTOfPeers }),
			Formula: "highest of: an instance's mean TTFT over the median of its peers' (same role and model, 30 s)", Source: "TTFT histograms", Needs: needs, Export: exportName("instance.ttft_factor", "count", "")},
		{Name: "instance.tpot_factor", Title: "TPOT of the slowest instance over its peers'", Unit: "count", Kind: "instance", Step: 0.3, at: worst(func(i *Instance) probes.Opt[float64] { return i.TPOTOfPeers }),
			Formula: "highest of: an instance's mean TPOT over the median of its peers' (same role and model, 30 s)", Source: "TPOT histograms", Needs: needs, Export: exportName("instance.tpot_factor", "count", "")},
		{Name: "instance.queue_factor", Title: "queue of the fullest instance over its peers'", Unit: "count", Kind: "instance", Step: 1, at: worst(func(i *Instance) probes.Opt[float64] { return i.QueueOfPeers }),
			Formula: "highest of: an instance's waiting requests + 1 over the median of its peers' + 1", Source: "waiting gauges", Needs: needs, Export: exportName("instance.queue_factor", "count", "")},
	}
}
