package engineconfig

// vllm is `vllm serve MODEL …` or `python -m vllm.entrypoints.openai.api_server …`.
// Its pages tell version and length alone; the limits stand on the command line.
var vllm = engine{
	dialect:  "vllm",
	commands: [][]string{{"vllm", "serve"}, {"vllm.entrypoints.openai.api_server"}, {"vllm.entrypoints.api_server"}},
	model:    []string{"vllm", "serve"},
	config:   "--config",
	pages: []page{
		{path: "/version", fields: versionFields},
		{path: "/v1/models", proof: []string{"data.0.owned_by=vllm"}, fields: modelsFields},
	},
	flags: vllmFlags,
	usual: []flagless{{"graphs", "on"}, {"tensor_parallel", "1"}, {"pipeline_parallel", "1"}, {"data_parallel", "1"}},
}

var vllmFlags = []flag{
	{[]string{"--model"}, "model", modelName},
	{[]string{"--max-num-seqs"}, "max_num_seqs", number},
	{[]string{"--max-num-batched-tokens"}, "max_num_batched_tokens", number},
	{[]string{"--max-model-len"}, "max_model_len", number},
	{[]string{"--max-num-queued-reqs"}, "queue_limit", number},
	{[]string{"--gpu-memory-utilization"}, "kv_memory_share", share},
	{[]string{"--block-size"}, "kv_block_tokens", number},
	{[]string{"--kv-cache-dtype"}, "kv_cache_dtype", word},
	{[]string{"--quantization", "-q"}, "quantization", word},
	{[]string{"--dtype"}, "dtype", word},
	{[]string{"--tensor-parallel-size", "-tp"}, "tensor_parallel", number},
	{[]string{"--pipeline-parallel-size", "-pp"}, "pipeline_parallel", number},
	{[]string{"--data-parallel-size", "-dp"}, "data_parallel", number},
	{[]string{"--enable-expert-parallel", "-ep"}, "expert_parallel", on},
	{[]string{"--no-enable-expert-parallel"}, "expert_parallel", off},
	{[]string{"--enforce-eager"}, "graphs", off},
	{[]string{"--no-enforce-eager"}, "graphs", on},
	{[]string{"--enable-prefix-caching"}, "prefix_caching", on},
	{[]string{"--no-enable-prefix-caching"}, "prefix_caching", off},
	{[]string{"--enable-chunked-prefill"}, "chunked_prefill", on},
	{[]string{"--no-enable-chunked-prefill"}, "chunked_prefill", off},
	{[]string{"--speculative-config", "--spec-config", "-sc"}, "speculative", method},
	{[]string{"--speculative-config.method"}, "speculative", word},
	{[]string{"--speculative-model"}, "speculative", given},
	{[]string{"--kv-transfer-config"}, "role", role},
	{[]string{"--scheduling-policy"}, "scheduling_policy", word},
	{[]string{"--api-server-count", "-asc"}, "api_servers", number},
	{[]string{"--attention-backend"}, "attention_backend", word},
}
