package rules

import (
	"math"
	"strconv"

	"llmtop/probes"
)

// configRows are limits that an engine was started with, as numbers.
func configRows() []Signal {
	row := func(name, title, unit string, formula string, at func(*now) probes.Opt[float64]) Signal {
		return Signal{Name: name, Title: title, Unit: unit, Kind: "config", Step: 1, Formula: formula,
			Source: "the engine's own pages or command line, else its metrics", Needs: "engine metrics", Export: exportName(name, unit, ""), at: at}
	}
	return []Signal{
		row("config.max_num_seqs", "cap on running sequences", "count", "most sequences in the batch, all engines; missing unless each tells it",
			func(n *now) probes.Opt[float64] {
				return n.setting("max_num_seqs", func(e *probes.Engine) probes.Opt[float64] { return e.MaxRunning }, add)
			}),
		row("config.max_num_batched_tokens", "token budget of a step", "tokens", "most tokens a step, the engine with the fewest; missing unless each tells it",
			func(n *now) probes.Opt[float64] {
				return n.setting("max_num_batched_tokens", func(e *probes.Engine) probes.Opt[float64] { return e.TokenBudget }, math.Min)
			}),
		row("config.kv_cache_tokens", "KV cache size", "tokens", "tokens that the KV cache holds, all engines; missing unless each tells it",
			func(n *now) probes.Opt[float64] {
				return n.setting("kv_cache_tokens", func(e *probes.Engine) probes.Opt[float64] { return e.KVTokens }, add)
			}),
		row("config.tensor_parallel", "tensor parallelism", "count", "devices that share a layer, the engine with the most; missing unless each tells it",
			func(n *now) probes.Opt[float64] {
				return n.setting("tensor_parallel", func(*probes.Engine) probes.Opt[float64] { return missing() }, math.Max)
			}),
	}
}

// setting combines a setting of all engines that are seen, by their configuration or
// their metrics. A setting does not grow old: it stands until the engine tells another.
// A frontend that passes requests on has no batch and no cache to be set.
func (n *now) setting(fact string, metric func(*probes.Engine) probes.Opt[float64], combine func(a, b float64) float64) probes.Opt[float64] {
	out := missing()
	took := func(value probes.Opt[float64]) bool {
		x, ok := value.Get()
		if y, seen := out.Get(); ok && seen {
			x = combine(x, y)
		}
		if ok {
			out = probes.Some(x)
		}
		return ok
	}
	for _, c := range n.point.Configs {
		value, e := factNumber(c, fact), engineOf(n.point, c.Endpoint)
		if e != nil && e.Role == probes.Frontend {
			continue
		}
		if !value.Seen() && e != nil {
			value = metric(e)
		}
		if !took(value) {
			return missing()
		}
	}
	for _, e := range n.point.Engines {
		if e.Role != probes.Frontend && configOf(n.point, e.Endpoint) == nil && !took(metric(e)) {
			return missing()
		}
	}
	return out
}

func configOf(p *probes.Point, endpoint string) *probes.EngineConfig {
	for _, c := range p.Configs {
		if c.Endpoint == endpoint {
			return c
		}
	}
	return nil
}

// factNumber is a fact that is a number.
func factNumber(c *probes.EngineConfig, name string) probes.Opt[float64] {
	if v, err := strconv.ParseFloat(c.Fact(name), 64); err == nil && v >= 0 {
		return probes.Some(v)
	}
	return missing()
}
