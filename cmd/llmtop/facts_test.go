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

// TestFactsAreLearnedOnce: what a sample tells is told when it changes; the command line
// of a process is read once.
func TestFactsAreLearnedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		got, told, read := map[string]string{}, 0, 0
		l := newLearner(func(f map[string]string) {
			mu.Lock()
			defer mu.Unlock()
			told++
			maps.Copy(got, f)
		})
		l.argv = func(pid int) map[string]string {
			mu.Lock()
			defer mu.Unlock()
			read++
			return map[string]string{"engine_command": "vllm serve"}
		}
		version := func(v string) []*probes.EngineConfig {
			facts := []probes.Fact{{Name: "kv_cache_tokens", Value: "9"}, {Name: "max_model_len", Value: "8192"}, {Name: "max_num_seqs", Value: "64"}, {Name: "dtype", Value: "bf16"}}
			return []*probes.EngineConfig{{Endpoint: "http://a", Version: v, Facts: facts}, {Endpoint: "http://b", Version: "0.11"}, {Endpoint: "http://c", Version: "7"}}
		}
		tick := &rules.Tick{Point: &probes.Point{
			Sample: &probes.Sample{
				Configs: version("0.11"),
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
			"max_model_len": "8192", "max_num_seqs": "64",
			"engine of http://b": "vllm", "engine_version of http://b": "0.11", "gpu_driver": "580", "gpus": "2 × NVIDIA H200, 141 GiB; 1 × L4",
		}
		if !maps.Equal(got, want) || told != 2 || read != 1 {
			t.Errorf("told %d times, read %d command lines\n got %v\nwant %v", told, read, got, want)
		}
		tick.Point.Configs, tick.Point.Process.PID = version("0.12"), 8
		l.observe(tick)
		synctest.Wait()
		if got["engine_version"] != "0.12" || told != 4 || read != 2 {
			t.Errorf("told %d times, read %d, version %q; want news after a restart", told, read, got["engine_version"])
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
