package engineconfig

import "slices"

// dynamo is a worker, `python -m dynamo.vllm …` and the like: it passes the engine's
// flags on.
var dynamo = engine{
	dialect:  "dynamo",
	commands: [][]string{{"dynamo.vllm"}, {"dynamo.sglang"}, {"dynamo.trtllm"}, {"dynamo.frontend"}, {"dynamo-run"}},
	config:   "--config",
	pages: []page{
		{path: "/v1/models", fields: modelsFields},
	},
	flags: slices.Concat(vllmFlags, []flag{
		{[]string{"--router-mode"}, "router_mode", word},
	}, sglangFlags, trtllm.flags),
}
