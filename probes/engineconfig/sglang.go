package engineconfig

// sglang is `python -m sglang.launch_server …`. Its server_info page has the arguments
// as they were resolved at start (its api_key too, which no table names).
var sglang = engine{
	dialect:  "sglang",
	commands: [][]string{{"sglang.launch_server"}, {"sglang", "serve"}},
	config:   "--config",
	pages: []page{
		{path: "/server_info", proof: sglangProof, fields: sglangInfo},
		{path: "/get_server_info", instead: "/server_info", proof: sglangProof, fields: sglangInfo},
		{path: "/get_model_info", fields: []field{{"model_path", "model", modelName}}},
		{path: "/v1/models", proof: []string{"data.0.owned_by=sglang"}, fields: modelsFields},
	},
	flags: sglangFlags,
	usual: []flagless{{"graphs", "on"}, {"prefix_caching", "on"}, {"tensor_parallel", "1"}, {"pipeline_parallel", "1"}, {"data_parallel", "1"}},
}

var sglangProof = []string{"mem_fraction_static", "chunked_prefill_size", "internal_states"}

// Of two members for one setting the first that is there counts.
var sglangInfo = []field{
	{"version", versionField, version},
	{"model_path", "model", modelName},
	{"internal_states.0.effective_max_running_requests_per_dp", "max_num_seqs", number},
	{"internal_states.0.max_running_requests", "max_num_seqs", number},
	{"max_running_requests", "max_num_seqs", number},
	{"max_total_num_tokens", "kv_cache_tokens", number},
	{"internal_states.0.memory_usage.token_capacity", "kv_cache_tokens", number},
	{"chunked_prefill_size", "chunked_prefill_tokens", number},
	{"max_prefill_tokens", "max_prefill_tokens", number},
	{"context_length", "max_model_len", number},
	{"max_queued_requests", "queue_limit", number},
	{"page_size", "kv_block_tokens", number},
	{"mem_fraction_static", "kv_memory_share", share},
	{"quantization", "quantization", word},
	{"kv_cache_dtype", "kv_cache_dtype", word},
	{"dtype", "dtype", word},
	{"tp_size", "tensor_parallel", number},
	{"pp_size", "pipeline_parallel", number},
	{"dp_size", "data_parallel", number},
	{"ep_size", "expert_parallel", number},
	{"disable_cuda_graph", "graphs", off},
	{"disable_radix_cache", "prefix_caching", off},
	{"speculative_algorithm", "speculative", word},
	{"disaggregation_mode", "role", word},
	{"schedule_policy", "scheduling_policy", word},
	{"attention_backend", "attention_backend", word},
}

var sglangFlags = []flag{
	{[]string{"--model-path", "--model"}, "model", modelName},
	{[]string{"--max-running-requests"}, "max_num_seqs", number},
	{[]string{"--max-total-tokens"}, "kv_cache_tokens", number},
	{[]string{"--chunked-prefill-size"}, "chunked_prefill_tokens", number},
	{[]string{"--max-prefill-tokens"}, "max_prefill_tokens", number},
	{[]string{"--context-length"}, "max_model_len", number},
	{[]string{"--max-queued-requests"}, "queue_limit", number},
	{[]string{"--page-size"}, "kv_block_tokens", number},
	{[]string{"--mem-fraction-static"}, "kv_memory_share", share},
	{[]string{"--quantization"}, "quantization", word},
	{[]string{"--kv-cache-dtype"}, "kv_cache_dtype", word},
	{[]string{"--dtype"}, "dtype", word},
	{[]string{"--tensor-parallel-size", "--tp-size", "--tp"}, "tensor_parallel", number},
	{[]string{"--pipeline-parallel-size", "--pp-size"}, "pipeline_parallel", number},
	{[]string{"--data-parallel-size", "--dp-size", "--dp"}, "data_parallel", number},
	{[]string{"--expert-parallel-size", "--ep-size", "--ep"}, "expert_parallel", number},
	{[]string{"--disable-cuda-graph"}, "graphs", off},
	{[]string{"--disable-radix-cache"}, "prefix_caching", off},
	{[]string{"--speculative-algorithm", "--speculative-algo"}, "speculative", word},
	{[]string{"--disaggregation-mode"}, "role", word},
	{[]string{"--schedule-policy"}, "scheduling_policy", word},
	{[]string{"--attention-backend"}, "attention_backend", word},
}
