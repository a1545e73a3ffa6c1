package engineconfig

// tgi is text-generation-inference: the launcher, or the router that it starts, which
// is who listens. Most of its flags come from the environment, which is not read; its
// info page has what came of them.
var tgi = engine{
	dialect:  "tgi",
	commands: [][]string{{"text-generation-launcher"}, {"text-generation-router"}},
	pages: []page{
		{path: "/info", proof: []string{"max_concurrent_requests", "max_batch_prefill_tokens"}, fields: []field{
			{"version", versionField, version},
			{"model_id", "model", modelName},
			{"model_dtype", "dtype", word},
			{"max_concurrent_requests", "queue_limit", number},
			{"max_batch_size", "max_num_seqs", number},
			{"max_batch_total_tokens", "kv_cache_tokens", number},
			{"max_batch_prefill_tokens", "max_prefill_tokens", number},
			{"max_total_tokens", "max_model_len", number},
			{"validation_workers", "tokenizer_workers", number},
		}},
	},
	flags: []flag{
		{[]string{"--model-id"}, "model", modelName},
		{[]string{"--dtype"}, "dtype", word},
		{[]string{"--kv-cache-dtype"}, "kv_cache_dtype", word},
		{[]string{"--quantize"}, "quantization", word},
		{[]string{"--num-shard"}, "tensor_parallel", number},
		{[]string{"--speculate"}, "speculative", given},
		{[]string{"--max-concurrent-requests"}, "queue_limit", number},
		{[]string{"--max-batch-size"}, "max_num_seqs", number},
		{[]string{"--max-batch-total-tokens"}, "kv_cache_tokens", number},
		{[]string{"--max-batch-prefill-tokens"}, "max_prefill_tokens", number},
		{[]string{"--max-total-tokens"}, "max_model_len", number},
		{[]string{"--cuda-memory-fraction"}, "kv_memory_share", share},
		{[]string{"--validation-workers"}, "tokenizer_workers", number},
	},
}
