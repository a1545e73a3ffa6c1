package engineconfig

// llmtop is our own engine, `llmtop serve …`. It speaks vLLM's dialect and tells its
// limits as metrics.
var llmtop = engine{
	dialect:  "vllm",
	commands: [][]string{{"llmtop", "serve"}},
	pages: []page{
		{path: "/version", fields: versionFields},
		{path: "/v1/models", proof: []string{"data.0.owned_by=llmtop"}, fields: modelsFields},
	},
	flags: []flag{
		{[]string{"--max-num-seqs"}, "max_num_seqs", number},
		{[]string{"--max-num-batched-tokens"}, "max_num_batched_tokens", number},
		{[]string{"--max-queue"}, "queue_limit", limit},
		{[]string{"--kv-cache-dtype"}, "kv_cache_dtype", word},
		{[]string{"--speculative"}, "speculative", word},
		{[]string{"--policy"}, "scheduling_policy", word},
	},
}
