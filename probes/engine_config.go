package probes

import "time"

// EngineConfig is a section: how an engine is set up, as it tells itself or as its
// command line says. It is read rarely; a new one with other facts than the last is
// told by an event.
type EngineConfig struct {
	At       time.Time `json:"at"`
	Endpoint string    `json:"endpoint"`
	Dialect  string    `json:"dialect,omitempty"`
	Version  string    `json:"version,omitempty"`
	PID      int       `json:"pid,omitempty"`   // the listening process, 0 when it is not known
	Facts    []Fact    `json:"facts,omitempty"` // by name
	Ranks    []Rank    `json:"ranks,omitempty"` // the engine's processes
}

// Dialects are the engines whose pages can be read, as package dialect names them.
var Dialects = []string{"vllm", "sglang", "tgi", "llamacpp", "trtllm", "triton", "dynamo", "lmdeploy", "nim", "ray"}

// FactNames are the canonical names of settings.
var FactNames = []string{
	"model", "max_num_seqs", "max_num_batched_tokens", "max_model_len", "kv_cache_tokens", "kv_block_tokens", "kv_cache_dtype",
	"kv_memory_share", "quantization", "dtype", "tensor_parallel", "pipeline_parallel", "data_parallel", "expert_parallel",
	"graphs", "prefix_caching", "chunked_prefill", "speculative", "role", "scheduling_policy", "queue_limit",
	"chunked_prefill_tokens", "max_prefill_tokens", "continuous_batching", "attention_backend", "flash_attention", "backend", "gpu_layers",
	"threads", "tokenizer_workers", "api_servers", "router_mode",
}

// Fact is one setting under its canonical name, one of FactNames.
type Fact struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"` // the page, metric or flag that says so
}

// Rank is a process of an engine: "dp0", "tp1", "scheduler".
type Rank struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
}

// Fact returns the value of a fact, "" when it is not known.
func (c *EngineConfig) Fact(name string) string {
	for i := range c.Facts {
		if c.Facts[i].Name == name {
			return c.Facts[i].Value
		}
	}
	return ""
}

func (c *EngineConfig) AddTo(to *Sample) { to.Configs = append(to.Configs, c) }
