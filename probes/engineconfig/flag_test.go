package engineconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"llmtop/probes"
)

// factsOf are the facts of a command line as "name=value", by name.
func factsOf(argv []string) (string, *engine) {
	e := engineOf(argv)
	if e == nil {
		return "", nil
	}
	r := reading{engine: e, facts: map[string]probes.Fact{}}
	r.flags(argv)
	var out []string
	for _, f := range r.sorted() {
		if f.Source != "default" {
			out = append(out, f.Name+"="+f.Value)
		}
	}
	return strings.Join(out, " "), e
}

func TestCommandLines(t *testing.T) {
	cases := []struct{ name, argv, dialect, want string }{
		{"vLLM", "/usr/bin/python3 /opt/venv/bin/vllm serve acme/tiny-7b --max-num-seqs 128 --max_num_batched_tokens=8192 -tp 2 -pp=1 --dtype bfloat16 --enforce-eager --api-key geheim",
			"vllm", "dtype=bfloat16 graphs=off max_num_batched_tokens=8192 max_num_seqs=128 model=acme/tiny-7b pipeline_parallel=1 tensor_parallel=2"},
		{"vLLM, human numbers", "vllm serve acme/x --max-model-len 32k --max-num-batched-tokens 16K", "vllm", "max_model_len=32000 max_num_batched_tokens=16384 model=acme/x"},
		{"vLLM, a path", "vllm serve /data/secret-project/weights-v2 --max-model-len -1", "vllm", "model=weights-v2"},
		{"vLLM, module", "python3 -m vllm.entrypoints.openai.api_server --model acme/x --gpu-memory-utilization 0.9 --kv-cache-dtype fp8_e5m2 --quantization awq_marlin --scheduling-policy priority",
			"vllm", "kv_cache_dtype=fp8_e5m2 kv_memory_share=0.9 model=acme/x quantization=awq_marlin scheduling_policy=priority"},
		{"vLLM, switches", "vllm serve acme/x --no-enable-prefix-caching --enable-chunked-prefill=False --enable-expert-parallel -dp 4", "vllm",
			"chunked_prefill=off data_parallel=4 expert_parallel=on model=acme/x prefix_caching=off"},
		{"vLLM, a switch with a word", "vllm serve acme/x --enable-chunked-prefill False --enable-prefix-caching", "vllm", "chunked_prefill=off model=acme/x prefix_caching=on"},
		{"vLLM, twice", "vllm serve acme/x --max-num-seqs 8 --max-num-seqs 16", "vllm", "max_num_seqs=16 model=acme/x"},
		{"vLLM, last is automatic", "vllm serve acme/x --max-num-seqs 8 --max-num-seqs auto", "vllm", "model=acme/x"},
		{"vLLM, speculation", `vllm|serve|acme/x|--speculative-config|{"method": "eagle3", "model": "/data/secret/draft"}`, "vllm", "model=acme/x speculative=eagle3"},
		{"vLLM, speculation without a method", `vllm|serve|acme/x|--speculative-config={"model": "/data/secret/draft"}`, "vllm", "model=acme/x speculative=on"},
		{"vLLM, dotted", "vllm serve acme/x --speculative-config.method ngram", "vllm", "model=acme/x speculative=ngram"},
		{"vLLM, an older flag", "vllm serve acme/x --speculative-model /data/secret/draft", "vllm", "model=acme/x speculative=on"},
		{"vLLM, prefill", `vllm|serve|acme/x|--kv-transfer-config|{"kv_connector":"N","kv_role":"kv_producer"}`, "vllm", "model=acme/x role=prefill"},
		{"vLLM, no value", "vllm serve --max-num-seqs --max-model-len", "vllm", ""},
		{"SGLang", "python3 -m sglang.launch_server --model-path acme/x --tp 8 --dp-size 2 --chunked-prefill-size 4096 --max-running-requests 48 --disable-cuda-graph --mem-fraction-static 0.85 --schedule-policy lpm --disaggregation-mode decode --speculative-algorithm EAGLE",
			"sglang", "chunked_prefill_tokens=4096 data_parallel=2 graphs=off kv_memory_share=0.85 max_num_seqs=48 model=acme/x role=decode scheduling_policy=lpm speculative=eagle tensor_parallel=8"},
		{"llama.cpp", "/opt/llama-server -m /models/secret/tiny.Q4_K_M.gguf -c 32768 -np 8 -ngl 99 -fa on -ctk q8_0 -b 2048", "llamacpp",
			"flash_attention=on gpu_layers=99 kv_cache_dtype=q8_0 kv_cache_tokens=32768 max_num_batched_tokens=2048 max_num_seqs=8 model=tiny.Q4_K_M.gguf"},
		{"llama.cpp, an older switch", "llama-server -fa -np 2 --n-gpu-layers all -hf acme/tiny-GGUF:Q8_0", "llamacpp", "flash_attention=on gpu_layers=all max_num_seqs=2 model=acme/tiny-GGUF:Q8_0"},
		{"llama.cpp, automatic", "llama-server -fa auto -np -1 -c 0", "llamacpp", "flash_attention=auto"},
		{"TGI", "text-generation-router --max-concurrent-requests 128 --max-batch-total-tokens 60000 --max-batch-prefill-tokens=4096", "tgi", "kv_cache_tokens=60000 max_prefill_tokens=4096 queue_limit=128"},
		{"TRT-LLM", "/usr/bin/python3 /usr/local/bin/trtllm-serve serve acme/x --backend pytorch --tp_size 4 --max_batch_size 64 --max_num_tokens 4096", "trtllm",
			"backend=pytorch max_num_batched_tokens=4096 max_num_seqs=64 model=acme/x tensor_parallel=4"},
		{"TRT-LLM, no subcommand", "trtllm-serve acme/x --kv_cache_free_gpu_memory_fraction 0.8", "trtllm", "kv_memory_share=0.8 model=acme/x"},
		{"LMDeploy", "python3 /usr/bin/lmdeploy serve api_server acme/x --tp 2 --session-len 8192 --cache-max-entry-count 0.7 --max-batch-size 96 --eager-mode", "lmdeploy",
			"graphs=off kv_memory_share=0.7 max_model_len=8192 max_num_seqs=96 model=acme/x tensor_parallel=2"},
		{"Dynamo", "python3 -m dynamo.vllm --model acme/x --tensor-parallel-size 2 --max-num-seqs 64", "dynamo", "max_num_seqs=64 model=acme/x tensor_parallel=2"},
		{"our own", "/usr/local/bin/llmtop serve --max-num-seqs 4 --kv-cache-dtype int8 --speculative ngram", "vllm", "kv_cache_dtype=int8 max_num_seqs=4 speculative=ngram"},
		{"a worker", "VLLM::EngineCore", "", ""},
		{"something else", "python3 app.py serve --max-num-seqs 4", "", ""},
		{"nothing", "", "", ""},
		{"words out of order", "serve vllm --max-num-seqs 4", "", ""},
	}
	for _, c := range cases {
		sep := " "
		if strings.Contains(c.argv, "|") {
			sep = "|"
		}
		got, e := factsOf(strings.Split(c.argv, sep))
		dialect := ""
		if e != nil {
			dialect = e.dialect
		}
		if got != c.want || dialect != c.dialect {
			t.Errorf("%s: got %s %q, want %s %q", c.name, dialect, got, c.dialect, c.want)
		}
	}
}

// TestUsualValues: a flag that is not there means its default, unless a file may hold it.
func TestUsualValues(t *testing.T) {
	for argv, want := range map[string]string{
		"vllm serve m":                                  "on",
		"vllm serve m --enforce-eager":                  "off",
		"vllm serve m --config /etc/vllm.yaml":          "",
		"vllm serve m --config=/etc/vllm.yaml":          "",
		"text-generation-launcher --max-batch-size 4":   "",
		"python -m sglang.launch_server --model-path m": "on",
	} {
		r := reading{engine: engineOf(strings.Fields(argv)), facts: map[string]probes.Fact{}}
		r.flags(strings.Fields(argv))
		if got := r.facts["graphs"].Value; got != want {
			t.Errorf("%s: graphs %q, want %q", argv, got, want)
		}
	}
}

// TestTables: every name is canonical, every dialect known, no flag stands twice.
func TestTables(t *testing.T) {
	for _, e := range engines {
		if !slices.Contains(probes.Dialects, e.dialect) {
			t.Errorf("dialect %q is not known", e.dialect)
		}
		seen := map[string]string{}
		for _, f := range e.flags {
			if !slices.Contains(probes.FactNames, f.name) {
				t.Errorf("%s: %q is not canonical", e.dialect, f.name)
			}
			for _, n := range f.names {
				if was, twice := seen[dashed(n)]; twice && was != f.name {
					t.Errorf("%s: %s means %s and %s", e.dialect, n, was, f.name)
				}
				seen[dashed(n)] = f.name
			}
		}
		for _, p := range e.pages {
			for _, f := range p.fields {
				if f.name != versionField && !slices.Contains(probes.FactNames, f.name) {
					t.Errorf("%s %s: %q is not canonical", e.dialect, p.path, f.name)
				}
			}
			if p.path == "/metrics" {
				t.Errorf("%s: metrics are not to be asked for", e.dialect)
			}
		}
		for _, u := range e.usual {
			if !slices.Contains(probes.FactNames, u.name) {
				t.Errorf("%s: %q is not canonical", e.dialect, u.name)
			}
		}
	}
}

// TestSecretsStay plants a marker behind every flag that is known and many that are not.
func TestSecretsStay(t *testing.T) {
	const marker = "hf_PLANTED$ecret with blanks"
	for _, e := range engines {
		argv := slices.Clone(e.commands[0])
		for _, f := range e.flags {
			for _, n := range f.names {
				argv = append(argv, n, marker, n+"="+marker, n, `{"method":"`+marker+`","kv_role":"`+marker+`"}`)
			}
		}
		for _, n := range []string{"--api-key", "--hf-token", "--chat-template", "--system-prompt", "--served-model-name", "--ssl-keyfile"} {
			argv = append(argv, n, marker, n+"="+marker)
		}
		if got, _ := factsOf(argv); strings.Contains(got, "PLANTED") {
			t.Errorf("%s: %s", e.dialect, got)
		}
	}
}

func FuzzFlags(f *testing.F) {
	f.Add("vllm\x00serve\x00acme/x\x00--max-num-seqs\x0032k\x00--speculative-config\x00{\"method\":\"x\"}")
	f.Add("llama-server\x00-c\x00-1\x00-fa\x00auto\x00-np")
	f.Fuzz(func(t *testing.T, line string) {
		argv := strings.Split(line, "\x00")
		r := reading{engine: engineOf(argv), facts: map[string]probes.Fact{}}
		if r.engine == nil {
			r.engine = &vllm
		}
		r.flags(argv)
		sane(t, r.sorted())
	})
}

// sane holds what must be true of all facts.
func sane(t *testing.T, facts []probes.Fact) {
	t.Helper()
	if len(facts) > len(probes.FactNames) {
		t.Errorf("%d facts", len(facts))
	}
	for _, f := range facts {
		if !slices.Contains(probes.FactNames, f.Name) || f.Value == "" || len(f.Value) > 200 || probes.Printable(f.Value, 200) != f.Value || f.Source == "" {
			t.Errorf("a fact %s", fmt.Sprintf("%q", f))
		}
	}
}
