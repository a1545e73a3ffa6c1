package engineconfig

// lmdeploy is `lmdeploy serve api_server MODEL …`.
var lmdeploy = engine{
	dialect:  "lmdeploy",
	commands: [][]string{{"lmdeploy", "serve", "api_server"}},
	model:    []string{"api_server"},
	pages: []page{
		{path: "/v1/models", proof: []string{"data.0.owned_by=lmdeploy"}, fields: modelsFields},
	},
	flags: []flag{
		{[]string{"--max-batch-size"}, "max_num_seqs", number},
		{[]string{"--session-len"}, "max_model_len", number},
		{[]string{"--max-prefill-token-num"}, "max_prefill_tokens", number},
		{[]string{"--max-concurrent-requests"}, "queue_limit", number},
		{[]string{"--cache-max-entry-count"}, "kv_memory_share", share},
		{[]string{"--cache-block-seq-len"}, "kv_block_tokens", number},
		{[]string{"--quant-policy"}, "kv_cache_dtype", word},
		{[]string{"--model-format"}, "quantization", word},
		{[]string{"--dtype"}, "dtype", word},
		{[]string{"--tp"}, "tensor_parallel", number},
		{[]string{"--dp"}, "data_parallel", number},
		{[]string{"--ep"}, "expert_parallel", number},
		{[]string{"--eager-mode"}, "graphs", off},
		{[]string{"--enable-prefix-caching"}, "prefix_caching", on},
		{[]string{"--backend"}, "backend", word},
		{[]string{"--role"}, "role", word},
	},
}
