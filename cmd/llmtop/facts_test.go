package main

import (
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// TestFactsAreLearnedOnce: what a sample tells is told when it changes; engines and
// processes are asked once, and again after a restart.
func TestFactsAreLearnedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		got, told, asked := map[string]string{}, 0, []string{}
		l := newLearner(func(f map[string]string) {
			mu.Lock()
			defer mu.Unlock()
			told++
			maps.Copy(got, f)
		})
		l.ask = func(endpoint, _ string) map[string]string {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, endpoint)
			return map[string]string{"engine_version": "0.11"}
		}
		l.argv = func(pid int) map[string]string { return map[string]string{"engine_command": "vllm serve"} }
		tick := &rules.Tick{Point: &probes.Point{
			Sample: &probes.Sample{
				Process: &probes.Process{PID: 7},
				GPU: &probes.GPU{Driver: "580", Devices: []probes.GPUDevice{
					{Name: "NVIDIA H200", MemoryTotalBytes: probes.Some(141.0 * (1 << 30))}, {Name: "NVIDIA H200", MemoryTotalBytes: probes.Some(141.0 * (1 << 30))}, {Name: "L4"}}},
			},
			Engines: []*probes.Engine{
				{Endpoint: "http://a", Dialect: "vllm", Model: "m", KVTokens: probes.Some(4096.0)},
				{Endpoint: "http://b", Dialect: "vllm"},
			},
		}}
		for range 3 {
			l.observe(tick)
			synctest.Wait()
		}
		want := map[string]string{
			"engine": "vllm", "model": "m", "kv_cache_tokens": "4096", "engine_version": "0.11", "engine_command": "vllm serve",
			"engine of http://b": "vllm", "engine_version of http://b": "0.11", "gpu_driver": "580", "gpus": "2 × NVIDIA H200, 141 GiB; 1 × L4",
		}
		if !maps.Equal(got, want) || told != 4 || len(asked) != 2 {
			t.Errorf("told %d times, asked %v\n got %v\nwant %v", told, asked, got, want)
		}
		tick.Point.Events = []probes.Event{{Kind: probes.EventRestart}}
		l.observe(tick)
		synctest.Wait()
		if len(asked) != 4 {
			t.Errorf("asked %v, want again after a restart", asked)
		}
	})
}

func TestQuoted(t *testing.T) {
	if got := quoted([]string{"sh", "-c", "echo it's", "", "--x=1"}); got != `sh -c 'echo it'\''s' '' --x=1` {
		t.Errorf("%s", got)
	}
}

// TestManifestKnowsTheMachine: what a reader elsewhere needs to know of this one.
func TestManifestKnowsTheMachine(t *testing.T) {
	m := manifest(time.Second)
	if m.Facts["kernel"] == "" || m.Memory == 0 || m.CPUs == 0 || len(m.Command) == 0 || strings.TrimSpace(m.OS) == "" {
		t.Errorf("%+v", m)
	}
}
