package enginelog

// trtllmRows are those of TensorRT-LLM's PyTorch backend (trtllm-serve). Its iteration line
// is only there with print_iter_log.
func trtllmRows() []row {
	const (
		head = `iter = \d+, global_rank = \d+, rank = (?P<rank>\d+), `
		tail = `(?:.*?'num_generation_tokens': (?P<tokens>\d+))?`
		v26  = head + `num_scheduled_requests = (?P<running>\d+), kv_cache_util = (?P<kv_usage_ratio>` + num + `), .*?host_step_time = (?P<seconds>` + num + `)ms` + tail
		v25  = head + `.*?host_step_time = (?P<seconds>` + num + `)ms,.*?num_scheduled_requests: (?P<running>\d+)` + tail
		old  = head + `.*?elapsed_time = (?P<seconds>` + num + `)s,.*?num_scheduled_requests: (?P<running>\d+)` + tail

		new26 = "[11/30/2026-04:05:06] [TRT-LLM] [I] [_torch][RANK 0] iter = 88, global_rank = 0, rank = 0, num_scheduled_requests = 7, kv_cache_util = 0.250, currank_total_requests = 1/4, host_step_time = 1250.5ms, prev_device_step_time = 4.5ms, timestamp = 2026-11-30 04:05:06, states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 16}"
	)
	ms, slow := scale{"seconds": milliseconds}, scale{"seconds": slowStep}
	const iter, sources = "currank_total_requests = ", "_torch/pyexecutor/py_executor.py; #3914, #16323"
	return []row{
		{kind: "slow-step", dialect: "trtllm", literal: iter, pattern: v26, scale: ms, floor: slow, example: new26, source: sources},
		{kind: "throughput", dialect: "trtllm", literal: iter, pattern: v26, scale: ms, source: sources,
			example: "[11/30/2026-04:05:06] [TRT-LLM] [I] [_torch][RANK 0] iter = 88, global_rank = 0, rank = 0, num_scheduled_requests = 7, kv_cache_util = 0.250, currank_total_requests = 1/4, host_step_time = 12.5ms, prev_device_step_time = 4.5ms, states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 16}"},
		{kind: "throughput", dialect: "trtllm", literal: iter, pattern: v25, scale: ms, source: sources,
			example: "[11/30/2026-04:05:06] [TRT-LLM] [I] iter = 88, global_rank = 0, rank = 0, currank_total_requests = 1/4, host_step_time = 12.5ms, prev_device_step_time = N/A, timestamp = 2026-11-30 04:05:06, num_scheduled_requests: 7, states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 16}"},
		{kind: "throughput", dialect: "trtllm", literal: iter, pattern: old, source: sources,
			example: "[11/30/2026-04:05:06] [TRT-LLM] [I] iter = 88, global_rank = 0, rank = 0, currank_total_requests = 0/0, elapsed_time = 0.0055s, timestamp = 2026-11-30 04:05:06, num_scheduled_requests: 7, states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 16}"},
		{kind: "graph-capture", dialect: "trtllm", literal: "CUDA graph warmup for batch size=", pattern: `Run generation(?:-| )only CUDA graph warmup for batch size=(?P<shapes>\d+)`,
			example: "[11/30/2026-04:05:06] [TRT-LLM] [I] Run generation only CUDA graph warmup for batch size=512", source: "#6294"},
		{kind: "engine-died", dialect: "trtllm", literal: "Encountered an error in forward function", pattern: `Encountered an error in forward function`,
			example: "[11/30/2026-04:05:06] [TRT-LLM] [E] Encountered an error in forward function: x", source: "_torch/pyexecutor/py_executor.py"},
	}
}
