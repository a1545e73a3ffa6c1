package engineconfig

// trtllm is `trtllm-serve MODEL …`. Its /metrics is never asked for: that page drains a
// queue that others may read.
var trtllm = engine{
	dialect:  "trtllm",
	commands: [][]string{{"trtllm-serve"}},
	model:    []string{"trtllm-serve", "serve"},
	pages: []page{
		{path: "/version", fields: versionFields},
		{path: "/v1/models", proof: []string{"data.0.owned_by=tensorrt_llm"}, fields: modelsFields},
	},
	flags: []flag{
		{[]string{"--model"}, "model", modelName},
		{[]string{"--max_batch_size"}, "max_num_seqs", number},
		{[]string{"--max_num_tokens"}, "max_num_batched_tokens", number},
		{[]string{"--max_seq_len"}, "max_model_len", number},
		{[]string{"--kv_cache_free_gpu_memory_fraction", "--free_gpu_memory_fraction"}, "kv_memory_share", share},
		{[]string{"--kv_cache_dtype"}, "kv_cache_dtype", word},
		{[]string{"--tp_size", "--tensor_parallel_size"}, "tensor_parallel", number},
		{[]string{"--pp_size", "--pipeline_parallel_size"}, "pipeline_parallel", number},
		{[]string{"--ep_size", "--moe_expert_parallel_size"}, "expert_parallel", number},
		{[]string{"--backend"}, "backend", word},
		{[]string{"--enable_chunked_prefill"}, "chunked_prefill", on},
		{[]string{"--server_role"}, "role", word},
	},
}
