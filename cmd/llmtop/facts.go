package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

// learner finds what is worth knowing beside the samples: who the engine is and how it was
// started, what hardware there is. What a sample tells is told at once; what has to be
// asked for (the engine's version, its process's command line) is asked on goroutines, once
// for each engine and process, so that no answer is waited for.
type learner struct {
	tell func(facts map[string]string) // safe for concurrent use
	ask  func(endpoint, dialect string) map[string]string
	argv func(pid int) map[string]string

	told  map[string]string
	asked map[string]bool // endpoints
	pid   int
}

// mostEngines bounds the engines whose facts are kept.
const mostEngines = 16

func newLearner(tell func(map[string]string)) *learner {
	return &learner{tell: tell, ask: askerOf(nil), argv: commandFacts, told: map[string]string{}, asked: map[string]bool{}}
}

// observe tells what is new in a tick.
func (l *learner) observe(t *rules.Tick) {
	fresh := map[string]string{}
	for k, v := range sampleFacts(t) {
		if l.told[k] != v {
			fresh[k], l.told[k] = v, v
		}
	}
	if len(fresh) > 0 {
		l.tell(fresh)
	}
	if slices.ContainsFunc(t.Point.Events, func(e probes.Event) bool { return e.Kind == probes.EventRestart }) {
		clear(l.asked) // it may be another build now
	}
	for n, e := range t.Point.Engines {
		if n < mostEngines && !l.asked[e.Endpoint] && len(l.asked) < mostEngines {
			l.asked[e.Endpoint] = true
			go func() { l.tell(named(n, e.Endpoint, l.ask(e.Endpoint, e.Dialect))) }()
		}
	}
	if p := t.Point.Process; p != nil && p.PID != l.pid {
		l.pid = p.PID
		go func() { l.tell(l.argv(p.PID)) }()
	}
}

// sampleFacts are the facts that a sample holds.
func sampleFacts(t *rules.Tick) map[string]string {
	out := map[string]string{}
	for n, e := range t.Point.Engines[:min(len(t.Point.Engines), mostEngines)] {
		facts := map[string]string{"engine": e.Dialect, "model": e.Model}
		for name, number := range map[string]probes.Opt[float64]{"kv_cache_tokens": e.KVTokens, "max_num_seqs": e.MaxRunning, "max_num_batched_tokens": e.TokenBudget} {
			if v, ok := number.Get(); ok {
				facts[name] = fmt.Sprintf("%.0f", v)
			}
		}
		maps.Copy(out, named(n, e.Endpoint, facts))
	}
	if g := t.Point.GPU; g != nil {
		out["gpu_driver"], out["gpus"] = g.Driver, gpuNames(g.Devices)
	}
	maps.DeleteFunc(out, func(_, v string) bool { return v == "" })
	return out
}

// named are the facts of engine n: those of the first have plain names.
func named(n int, endpoint string, facts map[string]string) map[string]string {
	if n == 0 {
		return facts
	}
	out := make(map[string]string, len(facts))
	for k, v := range facts {
		out[k+" of "+endpoint] = v
	}
	return out
}

// gpuNames says which devices there are: "8 × NVIDIA H200, 141 GiB".
func gpuNames(devices []probes.GPUDevice) string {
	var kinds []string
	count := map[string]int{}
	for _, d := range devices {
		kind := d.Name
		if bytes, ok := d.MemoryTotalBytes.Get(); ok {
			kind += fmt.Sprintf(", %.0f GiB", bytes/(1<<30))
		}
		if count[kind]++; count[kind] == 1 && kind != "" {
			kinds = append(kinds, kind)
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d × %s", count[kind], kind)
	}
	return strings.Join(kinds, "; ")
}

// copies are the facts that say how one recording was made of another.
var copies = []string{"extracted", "redacted", "repaired"}

// describeFacts prints what a recording says of itself.
func describeFacts(line func(name, format string, args ...any), m *record.Manifest) {
	if m.CPU != "" || m.Memory > 0 {
		line("machine", "%s, %.0f GiB", m.CPU, m.Memory/(1<<30))
	}
	if len(m.Command) > 0 {
		line("command", "%s", quoted(m.Command))
	}
	for _, k := range slices.Sorted(maps.Keys(m.Facts)) {
		if slices.Contains(copies, k) {
			line(k, "%s", m.Facts[k])
			continue
		}
		line("fact", "%s: %s", k, m.Facts[k])
	}
}
