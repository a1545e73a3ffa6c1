package enginelog

// tgiRows are those of text-generation-inference: the launcher repeats what its shards
// print, the router's lines end in "target: file:line: message", with spans in front that may
// hold parameters of a request.
func tgiRows() []row {
	const router = `(?:[a-z_]+(?:\{.*?\})?:)* ?text_generation_router[\w:]*: \S+:\d+: `
	return []row{
		{kind: "overloaded", dialect: "tgi", literal: "no permits available", pattern: router + `no permits available$`,
			example: "2026-11-30T04:05:06.123456Z ERROR generate{parameters=GenerateParameters { best_of: None }}:generate_stream: text_generation_router::infer: router/src/infer/mod.rs:118: no permits available", source: "router/src/infer/mod.rs: a refused permit is logged by its own words"},
		{kind: "overloaded", dialect: "tgi", literal: "Model is overloaded", pattern: router + `Model is overloaded$`,
			example: "2026-11-30T04:05:06.123456Z ERROR generate: text_generation_router::server: router/src/server.rs:547: Model is overloaded", source: "router/src/infer/mod.rs"},
		{kind: "request-failed", dialect: "tgi", literal: "Request failed during generation: ", pattern: router + `Request failed during generation: `,
			example: "2026-11-30T04:05:06.123456Z ERROR batch{batch_size=2}:send_error: text_generation_router_v3::backend: backends/v3/src/backend.rs:546: Request failed during generation: Server error: x", source: "backends/v3/src/backend.rs"},
		{kind: "request-failed", dialect: "tgi", literal: " encountered an error.", pattern: `Method \w+ encountered an error\.$`,
			example: "2026-11-30T04:05:06.123456Z ERROR text_generation_launcher: Method Decode encountered an error.", source: "server/interceptor.py"},
		{kind: "oom", dialect: "tgi", literal: "Not enough memory to handle ", pattern: `(?:[\w.]+: )*Not enough memory to handle (?P<tokens>\d+) prefill tokens`,
			example: "RuntimeError: Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`", source: "server/models/flash_causal_lm.py"},
		{kind: "graph-capture", dialect: "tgi", literal: "Cuda Graphs are enabled for sizes ", pattern: `Cuda Graphs are enabled for sizes `,
			example: "2026-11-30T04:05:06.123456Z  INFO text_generation_launcher: Cuda Graphs are enabled for sizes [32, 16, 8]", source: "server/models/flash_causal_lm.py"},
		{kind: "weights-loaded", dialect: "tgi", literal: "Shard ready in ", pattern: `Shard ready in (?P<seconds>` + num + `)s`,
			example: "2026-11-30T04:05:06.123456Z  INFO shard-manager: text_generation_launcher: Shard ready in 42.125s rank=0", source: "launcher/src/main.rs"},
		{kind: "ready", dialect: "tgi", literal: ": Connected", pattern: router + `Connected$`,
			example: "2026-11-30T04:05:06.123456Z  INFO text_generation_router::server: router/src/server.rs:2302: Connected", source: "router/src/server.rs"},
		{kind: "engine-died", dialect: "tgi", literal: " crashed", pattern: `Shard (?P<rank>\d+) crashed$`,
			example: "2026-11-30T04:05:06.123456Z ERROR text_generation_launcher: Shard 1 crashed", source: "launcher/src/main.rs"},
		{kind: "engine-died", dialect: "tgi", literal: "Webserver Crashed", pattern: `Webserver Crashed$`,
			example: "2026-11-30T04:05:06.123456Z ERROR text_generation_launcher: Webserver Crashed", source: "launcher/src/main.rs"},
	}
}
