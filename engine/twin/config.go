package twin

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"llmtop/probes"
)

// version is what a replica says of its software: an upgrade changes it.
func (r *Run) version(n int) string { return fmt.Sprintf("simulated-1.%d", r.sim.Version(n)) }

// config is how the process of a replica was set up as it began, as its command line would say.
func (r *Run) config(n int, endpoint string, at time.Time) *probes.EngineConfig {
	sc, i := &r.Scenario, &r.sim.replicas[n].setup
	c := &probes.EngineConfig{At: at, Endpoint: endpoint, Dialect: r.dialect(), Version: r.version(n)}
	facts := map[string]string{
		"model": sc.Model.Name, "max_num_seqs": fmt.Sprint(i.MaxNumSeqs), "max_num_batched_tokens": fmt.Sprint(i.TokenBudget),
		"kv_cache_tokens": fmt.Sprint(i.Blocks * i.BlockSize), "kv_block_tokens": fmt.Sprint(i.BlockSize), "kv_cache_dtype": string(sc.KV),
		"dtype": "bf16", "quantization": string(sc.Weights), "tensor_parallel": fmt.Sprint(max(1, sc.TP)), "pipeline_parallel": fmt.Sprint(max(1, sc.PP)),
		"graphs": onOff(i.graphs), "prefix_caching": onOff(i.caching), "chunked_prefill": "on",
		"max_model_len": fmt.Sprint(sc.Model.Context),
	}
	if i.Drafts > 0 {
		facts["speculative"] = fmt.Sprintf("%d tokens", i.Drafts)
	}
	if sc.MaxQueue > 0 {
		facts["queue_limit"] = fmt.Sprint(sc.MaxQueue)
	}
	if i.graphs && !math.IsNaN(i.graphMax) {
		facts["graphs"] = fmt.Sprintf("up to %g", i.graphMax)
	}
	for name, value := range facts {
		if value != "" && value != "0" {
			c.Facts = append(c.Facts, probes.Fact{Name: name, Value: value, Source: "command line"})
		}
	}
	slices.SortFunc(c.Facts, func(a, b probes.Fact) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// dialect is the engine as package dialect names it: llmtop's own has vLLM's page.
func (r *Run) dialect() string {
	if r.Scenario.Personality == "llmtop" {
		return "vllm"
	}
	return r.Scenario.Personality
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
