package enginelog

// vllmRows are vLLM's. The V1 engine prints no line for a preemption (it counts them in
// vllm:num_preemptions); V0 prints one for the first and for every so many after it, so the
// number in the line tells more than the number of lines.
func vllmRows() []row {
	const tokensPerSecond = `Avg prompt throughput: (?P<prompt_tokens_per_second>` + num + `) tokens/s, Avg generation throughput: (?P<generation_tokens_per_second>` + num + `) tokens/s, Running: (?P<running>\d+) reqs, `
	return []row{
		{kind: "throughput", dialect: "vllm", literal: "Avg prompt throughput: ", scale: scale{"kv_usage_ratio": percent},
			pattern: `(?:Engine (?P<rank>\d+): |\d+ Engines Aggregated: )?` + tokensPerSecond +
				`(?:Swapped: \d+ reqs, )?(?:Waiting|Pending): (?P<waiting>\d+) reqs, (?:[A-Z][A-Za-z ]*: [\d.]+(?: reqs)?, )*?GPU KV cache usage: (?P<kv_usage_ratio>` + num + `)%`,
			example: "(APIServer pid=41) INFO 11-30 04:05:06 [loggers.py:271] Engine 000: Avg prompt throughput: 1200.5 tokens/s, Avg generation throughput: 310.0 tokens/s, Running: 12 reqs, Waiting: 3 reqs, GPU KV cache usage: 87.5%, Prefix cache hit rate: 20.0%",
			source:  "v1/metrics/loggers.py; #43295 (V1), #2734 (V0)"},
		{kind: "preemption", dialect: "vllm", literal: " because there is not enough KV cache space",
			pattern: `Sequence group \S+ is preempted by (?:PreemptionMode\.)?\w+ mode because there is not enough KV cache space\.(?:.*?total_num_cumulative_preemption=(?P<preemptions_total>\d+))?`,
			example: "(RayWorkerWrapper pid=41, ip=10.0.0.9) WARNING 11-30 04:05:06 scheduler.py:1484] Sequence group 77 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. This can affect the end-to-end performance. total_num_cumulative_preemption=51",
			source:  "core/scheduler.py (V0): #4647, #6102"},
		{kind: "graph-capture", dialect: "vllm", literal: "Graph capturing finished in ",
			pattern: `Graph capturing finished in (?P<seconds>` + num + `) secs(?:, took (?P<bytes>` + num + `) (?P<bytes_unit>[KMG]iB))?`,
			example: "(EngineCore_DP0 pid=42) INFO 11-30 04:05:06 [gpu_model_runner.py:3000] Graph capturing finished in 17 secs, took 0.50 GiB", source: "#20264, #11005"},
		{kind: "jit-compile", dialect: "vllm", literal: "JIT compilation during inference", pattern: `[A-Za-z]+(?: kernel)? JIT compilation during inference`,
			example: "(EngineCore pid=42) WARNING 11-30 04:05:06 [jit_monitor.py:103] Triton kernel JIT compilation during inference: some_kernel. This causes a latency spike; consider extending warmup.", source: "jit_monitor.py, captures of 2026"},
		{kind: "jit-compile", dialect: "vllm", literal: "torch.compile t", pattern: `torch\.compile (?:takes|took) (?P<seconds>` + num + `) s in total`,
			example: "(Worker_TP0 pid=43) INFO 11-30 04:05:06 [monitor.py:53] torch.compile took 14.85 s in total", source: "compilation/monitor.py; #46389, #25848"},
		{kind: "jit-compile", dialect: "vllm", literal: "Dynamo bytecode transform time: ", pattern: `Dynamo bytecode transform time: (?P<seconds>` + num + `) s`,
			example: "INFO 11-30 04:05:06 [backends.py:1148] Dynamo bytecode transform time: 7.25 s", source: "#44106, #16848"},
		{kind: "weights-loaded", dialect: "vllm", literal: "Model loading took ",
			pattern: `Model loading took (?P<bytes>` + num + `) (?P<bytes_unit>GiB|GB)(?: memory)? and (?P<seconds>` + num + `) seconds`,
			example: "(Worker_TP0 pid=43) INFO 11-30 04:05:06 [gpu_model_runner.py:4879] Model loading took 12.50 GiB memory and 31.250000 seconds", source: "#38820, #44106"},
		{kind: "weights-loaded", dialect: "vllm", literal: "Loading model weights took ",
			pattern: `Loading model weights took (?P<bytes>` + num + `) (?P<bytes_unit>GiB|GB)`,
			example: "(VllmWorkerProcess pid=43) INFO 11-30 04:05:06 model_runner.py:1008] Loading model weights took 7.5000 GB", source: "pytorch/serve #3315 (V0)"},
		{kind: "engine-died", dialect: "vllm", literal: "EngineCore encountered a", pattern: `(?:[\w.]+: )*(?:CPU )?EngineCore encountered an? (?:fatal error|issue)`,
			example: "(EngineCore_DP0 pid=42) ERROR 11-30 04:05:06 [core.py:710] EngineCore encountered a fatal error.", source: "v1/engine/core.py, captures of 2025 and 2026"},
		{kind: "engine-died", dialect: "vllm", literal: " died unexpectedly, shutting down ", pattern: `(?:Engine core|Worker) proc \S+ died unexpectedly, shutting down (?:client|executor)`,
			example: "(EngineCore pid=42) ERROR 11-30 04:05:06 [multiproc_executor.py:283] Worker proc VllmWorker-0 died unexpectedly, shutting down executor.", source: "#32468, multiproc_executor.py"},
		{kind: "engine-died", dialect: "vllm", literal: "EngineCore failed to start", pattern: `(?:CPU )?EngineCore failed to start`,
			example: "(EngineCore pid=42) ERROR 11-30 04:05:06 [core.py:700] EngineCore failed to start.", source: "v1/engine/core.py"},
		{kind: "stalled", dialect: "vllm", literal: "broadcast block found in ", pattern: `No available (?:shared memory )?broadcast block found in (?P<seconds>\d+) second`,
			example: "(EngineCore pid=42) INFO 11-30 04:05:06 [shm_broadcast.py:698] No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging.", source: "club-3090 #178, shm_broadcast.py"},
		{kind: "grammar", dialect: "vllm", literal: "Failed to advance FSM for request", pattern: `Failed to advance FSM for request `,
			example: "(EngineCore_DP0 pid=42) ERROR 11-30 04:05:06 [backend_xgrammar.py:165] Failed to advance FSM for request chatcmpl-1 for tokens 7. Please file an issue.", source: "v1/structured_output/backend_xgrammar.py"},
		{kind: "lora", dialect: "vllm", literal: "Loaded new LoRA adapter: name", pattern: `Loaded new LoRA adapter: name`,
			example: "(APIServer pid=41) INFO 11-30 04:05:06 [serving_models.py:170] Loaded new LoRA adapter: name 'adapter', path '/adapters/a'", source: "entrypoints/openai/serving_models.py"},
		{kind: "slow-step", dialect: "vllm", literal: " iteration elapsed time: ", scale: scale{"seconds": milliseconds}, floor: scale{"seconds": slowStep},
			pattern: `Iteration\(\d+\): \d+ context requests, (?P<tokens>\d+) context tokens, (?P<running>\d+) generation requests, \d+ generation tokens, iteration elapsed time: (?P<seconds>` + num + `) ms`,
			example: "(EngineCore_DP0 pid=42) INFO 11-30 04:05:06 [core.py:349] Iteration(515): 2 context requests, 8192 context tokens, 20 generation requests, 20 generation tokens, iteration elapsed time: 1500.25 ms", source: "#31193 (--enable-logging-iteration-details)"},
	}
}
