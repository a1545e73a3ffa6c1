package enginelog

// llamacppRows are those of llama.cpp's server, old (2024) and new.
func llamacppRows() []row {
	const perSecond = ` =\s+` + num + ` ms /\s+(?P<tokens>\d+) (?:tokens|runs)\s+\(\s*` + num + ` ms per token,\s+`
	return []row{
		{kind: "context-shift", dialect: "llamacpp", literal: "context shift", pattern: `(?:slot \d+ ?: )?(?:slot )?context shift[ ,-]+n_keep = -?\d+, n_left = \d+, n_discard = (?P<tokens>\d+)`,
			example: "slot   operator(): id  0 | task 37 | slot context shift, n_keep = 4, n_left = 4091, n_discard = 2045", source: "server-context.cpp; #5104 (2024)"},
		{kind: "kv-pool-full", dialect: "llamacpp", literal: "failed to find free space in the KV cache", pattern: `failed to find free space in the KV cache, retrying with smaller .*?n_batch = (?P<tokens>\d+)`,
			example: "29.22.825.917 W srv        decode: failed to find free space in the KV cache, retrying with smaller batch size, off = 2012, n_batch = 64, ret = 1", source: "#27752 (2026), #4185 (2023)"},
		{kind: "throughput", dialect: "llamacpp", literal: "prompt eval time", pattern: `prompt eval time` + perSecond + `(?P<prompt_tokens_per_second>` + num + `) tokens per second`,
			example: "prompt eval time =    5093.50 ms /  1360 tokens (    3.75 ms per token,   267.25 tokens per second)", source: "#19408; #5104 (with print_timings:)"},
		{kind: "throughput", dialect: "llamacpp", literal: "eval time = ", pattern: `eval time` + perSecond + `(?P<generation_tokens_per_second>` + num + `) tokens per second`,
			example: "       eval time =     319.50 ms /    10 tokens (   31.95 ms per token,    31.25 tokens per second)", source: "#19408; #5104 (runs for tokens)"},
		{kind: "reprocess", dialect: "llamacpp", literal: "forcing full prompt re-processing", pattern: `forcing full prompt re-processing due to lack of cache data`,
			example: "slot update_slots: id  0 | task 135 | forcing full prompt re-processing due to lack of cache data (likely due to SWA)", source: "#19408, #21831"},
		{kind: "weights-loaded", dialect: "llamacpp", literal: ": model loaded", pattern: `model loaded`,
			example: "0.13.678.555 I srv  llama_server: model loaded", source: "#21831, #9390"},
		{kind: "ready", dialect: "llamacpp", literal: "server is listening on ", pattern: `server is listening on `,
			example: "main: server is listening on http://127.0.0.1:8080 - starting the main loop", source: "#9390, #21831"},
		{kind: "request-failed", dialect: "llamacpp", literal: "send_error: task id = ", pattern: `task id = \d+, error: `,
			example: "srv    send_error: task id = 289, error: Invalid input batch.", source: "#17316"},
	}
}
