package rules

import (
	"testing"

	"llmtop/probes"
)

// configured is a sample with the settings of engines, as facts by name.
func configured(facts ...map[string]string) *probes.Sample {
	s := sample(0)
	for i, f := range facts {
		c := &probes.EngineConfig{At: at(-3600), Endpoint: "http://" + string(rune('a'+i))}
		for name, value := range f {
			c.Facts = append(c.Facts, probes.Fact{Name: name, Value: value})
		}
		s.Configs = append(s.Configs, c)
	}
	return s
}

func TestConfigSignals(t *testing.T) {
	a := map[string]string{"max_num_seqs": "256", "max_num_batched_tokens": "8192", "kv_cache_tokens": "400000", "tensor_parallel": "2"}
	b := map[string]string{"max_num_seqs": "128", "max_num_batched_tokens": "2048", "kv_cache_tokens": "100000", "tensor_parallel": "4"}
	s := signalsOf(configured(a))
	for name, want := range map[string]float64{"max_num_seqs": 256, "max_num_batched_tokens": 8192, "kv_cache_tokens": 400000, "tensor_parallel": 2} {
		near(t, s, "config."+name, want)
	}
	s = signalsOf(configured(a, b))
	for name, want := range map[string]float64{"max_num_seqs": 384, "max_num_batched_tokens": 2048, "kv_cache_tokens": 500000, "tensor_parallel": 4} {
		near(t, s, "config."+name, want)
	}
	s = signalsOf(configured(a, map[string]string{"max_num_seqs": "auto", "tensor_parallel": "NaN", "kv_cache_tokens": "-1"}))
	for name := range a { // a sum of what is half known would be wrong
		absent(t, s, "config."+name, probes.NotSeen)
	}
}

// TestConfigFromMetrics: what the configuration does not tell the metrics may.
func TestConfigFromMetrics(t *testing.T) {
	engine := &probes.Engine{At: at(0), Endpoint: "http://a", MaxRunning: probes.Some(16.0), TokenBudget: probes.Some(512.0), KVTokens: probes.Some(4096.0)}
	for _, c := range []struct {
		name    string
		configs []*probes.EngineConfig
		seqs    float64
	}{
		{"no configuration", nil, 16},
		{"one without the fact", []*probes.EngineConfig{{Endpoint: "http://a"}}, 16},
		{"one with it", []*probes.EngineConfig{{Endpoint: "http://a", Facts: []probes.Fact{{Name: "max_num_seqs", Value: "8"}}}}, 8},
	} {
		n := &now{point: &probes.Point{Sample: &probes.Sample{Configs: c.configs}, Engines: []*probes.Engine{engine}}}
		for name, want := range map[string]float64{"config.max_num_seqs": c.seqs, "config.max_num_batched_tokens": 512, "config.kv_cache_tokens": 4096} {
			row, _ := Lookup(name)
			if got, ok := row.at(n).Get(); !ok || got != want {
				t.Errorf("%s: %s = %g (%v), want %g", c.name, name, got, ok, want)
			}
		}
	}
}

// TestConfigBehindAFrontend: a frontend that has no batch hides none of the workers' settings.
func TestConfigBehindAFrontend(t *testing.T) {
	front := &probes.Engine{At: at(0), Endpoint: "http://f", Role: probes.Frontend}
	worker := &probes.Engine{At: at(0), Endpoint: "http://w", MaxRunning: probes.Some(16.0)}
	row, _ := Lookup("config.max_num_seqs")
	for _, configs := range [][]*probes.EngineConfig{nil, {{Endpoint: "http://f"}}, {{Endpoint: "http://f"}, {Endpoint: "http://w"}}} {
		n := &now{point: &probes.Point{Sample: &probes.Sample{Configs: configs}, Engines: []*probes.Engine{front, worker}}}
		if got, ok := row.at(n).Get(); !ok || got != 16 {
			t.Errorf("%d configurations: %g (%v), want 16", len(configs), got, ok)
		}
	}
}
