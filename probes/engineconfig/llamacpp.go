package engineconfig

// llamacpp is `llama-server …`. n_ctx of its default settings is what one slot has; -c
// is the cache of all slots.
var llamacpp = engine{
	dialect:  "llamacpp",
	commands: [][]string{{"llama-server"}},
	pages: []page{
		{path: "/props", proof: []string{"build_info", "total_slots"}, fields: []field{
			{"build_info", versionField, version},
			{"model_path", "model", modelName},
			{"total_slots", "max_num_seqs", number},
			{"default_generation_settings.n_ctx", "max_model_len", number},
		}},
		{path: "/v1/models", proof: []string{"data.0.owned_by=llamacpp"}, fields: []field{{"data.0.id", "model", modelName}}},
	},
	flags: []flag{
		{[]string{"-m", "--model", "-hf", "--hf-repo"}, "model", modelName},
		{[]string{"-c", "--ctx-size"}, "kv_cache_tokens", number},
		{[]string{"-np", "--parallel"}, "max_num_seqs", number},
		{[]string{"-b", "--batch-size"}, "max_num_batched_tokens", number},
		{[]string{"-ub", "--ubatch-size"}, "chunked_prefill_tokens", number},
		{[]string{"-ngl", "--gpu-layers", "--n-gpu-layers"}, "gpu_layers", word},
		{[]string{"-fa", "--flash-attn"}, "flash_attention", switched},
		{[]string{"-ctk", "--cache-type-k"}, "kv_cache_dtype", word},
		{[]string{"-t", "--threads"}, "threads", number},
		{[]string{"-md", "--model-draft", "-hfd", "--hf-repo-draft"}, "speculative", given},
		{[]string{"--no-cont-batching", "-nocb"}, "continuous_batching", off},
		{[]string{"--cont-batching", "-cb"}, "continuous_batching", on},
		{[]string{"--no-cache-prompt"}, "prefix_caching", off},
		{[]string{"--cache-prompt"}, "prefix_caching", on},
	},
}
