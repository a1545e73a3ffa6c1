package enginelog

// sglangRows are SGLang's. What it calls GB is 2^30 bytes.
func sglangRows() []row {
	const usage = `(?:full )?token usage: (?P<kv_usage_ratio>` + num + `), `
	memory := scale{"bytes": gib, "free_bytes": gib}
	return []row{
		{kind: "kv-pool-full", dialect: "sglang", literal: "KV cache pool is full. Retract requests",
			pattern: `KV cache pool is full\. Retract requests\.(?: #retracted_reqs: (?P<retracted_requests>\d+))?(?:, #new_tokens_gained: (?P<tokens>\d+))?`,
			example: "[2026-11-30 04:05:06 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_tokens_gained: 640, #new_token_ratio: 0.1000 -> 0.3500", source: "managers/scheduler.py: hyperparameter tuning docs, captures of 2026"},
		{kind: "kv-pool-full", dialect: "sglang", literal: " out of memory. Try to lower your batch size", pattern: `(?:[\w.]+: )*(?:Prefill|Decode) out of memory\. Try to lower your batch size`,
			example: "[2026-11-30 04:05:06 TP0] Prefill out of memory. Try to lower your batch size.", source: "mem_cache/common.py; #34676"},
		{kind: "retraction", dialect: "sglang", literal: "Testing retraction. ", pattern: `Testing retraction\.\s+#retracted_reqs: (?P<retracted_requests>\d+)`,
			example: "[2026-11-30 04:05:06 TP0] Testing retraction. #retracted_reqs: 1, #new_tokens_gained: 64", source: "managers/scheduler.py (SGLANG_TEST_RETRACT)"},
		{kind: "throughput", dialect: "sglang", literal: "Decode batch",
			pattern: `Decode batch[^#]*#running-req: (?P<running>\d+), .*?` + usage + `.*?gen throughput \(token/s\): (?P<generation_tokens_per_second>` + num + `), #queue-req: (?P<waiting>\d+)`,
			example: "[2026-11-30 04:05:06 TP0] Decode batch, #running-req: 6, #token: 1920, token usage: 0.94, cuda graph: True, gen throughput (token/s): 446.50, #queue-req: 5,", source: "scheduler_metrics_mixin.py; #14972, #3424"},
		{kind: "throughput", dialect: "sglang", literal: "Prefill batch",
			pattern: `Prefill batch[^#]*#new-seq: \d+, #new-token: (?P<tokens>\d+), .*?` + usage + `.*?#running-req: (?P<running>\d+), #queue-req: (?P<waiting>\d+)(?:.*?input throughput \(token/s\): (?P<prompt_tokens_per_second>` + num + `))?`,
			example: "[2026-11-30 04:05:06 TP0] Prefill batch, #new-seq: 2, #new-token: 630, #cached-token: 126, token usage: 0.25, #running-req: 4, #queue-req: 1, input throughput (token/s): 900.25,", source: "scheduler_metrics_mixin.py; #3424"},
		{kind: "graph-capture", dialect: "sglang", literal: " graph end. Time elapsed: ", scale: memory,
			pattern: `Capture (?:[\w-]+ ){0,4}graph end\. Time elapsed: (?P<seconds>` + num + `) s\.(?: mem usage=(?P<bytes>` + num + `) GB\.)?(?: avail mem=(?P<free_bytes>` + num + `) GB)?`,
			example: "[2026-11-30 04:05:06 TP0] Capture cuda graph end. Time elapsed: 11.25 s. mem usage=1.00 GB. avail mem=11.25 GB.", source: "#12978, #26437 (piecewise)"},
		{kind: "jit-compile", dialect: "sglang", literal: "DeepGEMM JIT Pre-Compile session", pattern: `Entering DeepGEMM JIT Pre-Compile session`,
			example: "[2026-11-30 04:05:06 TP0] Entering DeepGEMM JIT Pre-Compile session. It may take a long time.", source: "deep_gemm_wrapper"},
		{kind: "weights-loaded", dialect: "sglang", literal: "Load weight end. ", scale: memory,
			pattern: `Load weight end\.(?: elapsed=(?P<seconds>` + num + `) s,)?.*? avail mem=(?P<free_bytes>` + num + `) GB(?:, mem usage=(?P<bytes>` + num + `) GB)?`,
			example: "[2026-11-30 04:05:06 DP0 TP0 EP0] Load weight end. elapsed=93.50 s, type=SomeForCausalLM, dtype=torch.bfloat16, avail mem=13.50 GB, mem usage=47.00 GB.", source: "#4826, #15426"},
		{kind: "ready", dialect: "sglang", literal: "The server is fired up and ready to roll", pattern: `The server is fired up and ready to roll`,
			example: "[2026-11-30 04:05:06] The server is fired up and ready to roll!", source: "entrypoints/http_server.py"},
		{kind: "stalled", dialect: "sglang", literal: "atchdog timeout (self.watchdog_timeout=", pattern: `(?:\w+ )?[Ww]atchdog timeout \(self\.watchdog_timeout=(?P<seconds>` + num + `)`,
			example: "[2026-11-30 04:05:06 TP4] Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)", source: "#3752, #30532"},
		{kind: "engine-died", dialect: "sglang", literal: "Scheduler hit an exception: ", pattern: `Scheduler hit an exception: `,
			example: "[2026-11-30 04:05:06 TP0] Scheduler hit an exception: Traceback (most recent call last):", source: "#26265"},
		{kind: "engine-died", dialect: "sglang", literal: "Received sigquit from a child proces", pattern: `Received sigquit from a child proces`,
			example: "[2026-11-30 04:05:06] Received sigquit from a child process. It usually means the child failed.", source: "#3752, #8741"},
		{kind: "grammar", dialect: "sglang", literal: "Hit invalid ", pattern: `Hit invalid (?:json_schema|ebnf|regex|structural_tag)`,
			example: "[2026-11-30 04:05:06 TP0] Hit invalid json_schema: key_string='{}', e=RuntimeError()", source: "constrained/*_backend.py"},
		{kind: "lora", dialect: "sglang", literal: "LoRA adapter ", scale: memory, pattern: `LoRA adapter (?:un)?loading completes.*? avail mem=(?P<free_bytes>` + num + `) GB`,
			example: "[2026-11-30 04:05:06 TP0] LoRA adapter loading completes: LoRARef(lora_id=1). avail mem=10.50 GB", source: "model_runner.py"},
	}
}
