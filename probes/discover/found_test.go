package discover

import (
	"strings"
	"testing"
)

// TestEngines: each engine as its command line and its pages tell.
func TestEngines(t *testing.T) {
	python := "/usr/bin/python3 -u -m "
	for _, c := range []struct {
		name, argv string
		pages      pages
		want       string
		asked      string // paths, "" when they do not matter
	}{
		{"vLLM", "/usr/bin/python3 /usr/bin/vllm serve org/m --port PORT", pages{"/metrics": vllmPage}, "vllm http://127.0.0.1:PORT model org/m pid 7", "/metrics"},
		{"vLLM as a module", python + "vllm.entrypoints.openai.api_server --model=m --port=PORT", pages{"/metrics": vllmPage}, "vllm http://127.0.0.1:PORT model m pid 7", "/metrics"},
		{"vLLM without statistics", "vllm serve m --disable-log-stats --port PORT", pages{"/metrics": plain, "/v1/models": `{"data":[{"id":"m","owned_by":"vllm"}]}`},
			"vllm http://127.0.0.1:PORT model m pid 7 UNREADABLE - vLLM on :PORT runs with --disable-log-stats: its page has no metrics of the engine: start it without", ""},
		{"a stranger that is vLLM without statistics", "/usr/bin/python3 server.py", pages{"/metrics": plain, "/v1/models": `{"data":[{"id":"m\u001b[31m","owned_by":"vllm"}]}`},
			"vllm http://127.0.0.1:PORT model m[31m pid 7 UNREADABLE - vLLM on :PORT has none of the engine's metrics on its page: start it without --disable-log-stats", ""},
		{"SGLang", python + "sglang.launch_server --model-path m --port PORT", pages{"/metrics": "sglang:num_queue_reqs 1\n"}, "sglang http://127.0.0.1:PORT model m pid 7", "/metrics"},
		{"SGLang without metrics", python + "sglang.launch_server --model-path m --port PORT", pages{},
			"sglang http://127.0.0.1:PORT model m pid 7 UNREADABLE - SGLang on :PORT does not expose metrics: start it with --enable-metrics", ""},
		{"llama.cpp", "/opt/llama-server -m /m/x.gguf --port PORT", pages{"/props": `{"build_info":"b10600-abc","total_slots":4,"model_path":"/m/x.gguf"}`, "/metrics": "llamacpp:requests_processing 0\n"},
			"llamacpp http://127.0.0.1:PORT model /m/x.gguf pid 7", "/props /metrics"},
		{"llama.cpp without metrics", "llama-server --port PORT", pages{"/props": `{"build_info":"b10600-abc","total_slots":4,"model_alias":"x"}`, "/metrics": "501 {}"},
			"llamacpp http://127.0.0.1:PORT model x pid 7 UNREADABLE - llama.cpp on :PORT does not expose metrics: start it with --metrics", ""},
		{"a stranger that calls itself llama.cpp", "/usr/bin/python3 x.py", pages{"Server": "llama.cpp", "/metrics": "501 {}"},
			"llamacpp http://127.0.0.1:PORT pid 7 UNREADABLE - llama.cpp on :PORT does not expose metrics: start it with --metrics", ""},
		{"a router of llama.cpp", "llama-server --port PORT", pages{"/props": `{"role":"router","build_info":"b10600-abc"}`, "/metrics": "400 {}"},
			"llamacpp http://127.0.0.1:PORT pid 7 UNREADABLE - llama.cpp on :PORT is a router, which tells metrics only of a model that is named (?model=): name one of its servers: llmtop http://HOST:PORT", "/props"},
		{"llama.cpp asleep", "llama-server --port PORT", pages{"/props": `{"build_info":"b8000-abc","is_sleeping":true}`, "/metrics": "llamacpp:requests_processing 0\n"},
			"llamacpp http://127.0.0.1:PORT pid 7 UNREADABLE - llama.cpp on :PORT is asleep, and reading the metrics of build 8000 would wake it: send it a request, or update it to b10519 or later", "/props"},
		{"llama.cpp asleep, of a build that sleeps on", "llama-server --port PORT", pages{"/props": `{"build_info":"b10519-abc","is_sleeping":true}`, "/metrics": "llamacpp:requests_processing 0\n"},
			"llamacpp http://127.0.0.1:PORT pid 7", "/props /metrics"},
		{"trtllm-serve", "/usr/bin/python3 /usr/bin/trtllm-serve m --port PORT", pages{"/metrics": `[{"iter":1}]`, "/prometheus/metrics": "trtllm_num_requests_running 0\n"},
			"trtllm http://127.0.0.1:PORT/prometheus/metrics pid 7", "/prometheus/metrics"},
		{"trtllm-serve without the page", "trtllm-serve serve m --port PORT", pages{"/metrics": `[{"iter":1}]`},
			"trtllm http://127.0.0.1:PORT/prometheus/metrics model m pid 7 UNREADABLE - trtllm-serve on :PORT has no /prometheus/metrics: set return_perf_metrics: true in its configuration", "/prometheus/metrics"},
		{"trtllm-serve before its first request", "trtllm-serve serve m --port PORT", pages{"/prometheus/metrics": plain}, "trtllm http://127.0.0.1:PORT/prometheus/metrics model m pid 7", ""},
		{"a stranger that is trtllm-serve", "/usr/bin/python3 x.py", pages{"/metrics": `[{"iter":1}]`, "/prometheus/metrics": "trtllm_num_requests_running 0\n"},
			"trtllm http://127.0.0.1:PORT/prometheus/metrics pid 7", "/prometheus/metrics"},
		{"NIM", python + "vllm_nvext.entrypoints.openai.api_server --port PORT", pages{"/v1/metrics": vllmPage}, "vllm http://127.0.0.1:PORT/v1/metrics pid 7", "/v1/metrics"},
		{"Triton", "tritonserver --metrics-port=PORT", pages{"/metrics": "nv_inference_count 1\n"}, "triton http://127.0.0.1:PORT pid 7", "/metrics"},
		{"Triton without metrics", "tritonserver --http-port=PORT", pages{"/metrics": "nv_inference_count 1\n"},
			"triton http://127.0.0.1:PORT pid 7 UNREADABLE - Triton on :PORT has no metrics on :8002: start it without --allow-metrics=false, and name another port: llmtop http://HOST:PORT", "/v1/models"},
		{"Dynamo's frontend", python + "dynamo.frontend --http-port PORT", pages{"/metrics": "dynamo_frontend_queued_requests 1\n"}, "dynamo http://127.0.0.1:PORT pid 7", "/metrics"},
		{"a Dynamo worker on a port of the kernel's choice", python + "dynamo.vllm --model m", pages{"/metrics": "dynamo_component_x 1\n"},
			"dynamo  model m pid 7 UNREADABLE - Dynamo worker, pid 7, exposes no metrics: start it with DYN_SYSTEM_PORT=8081", "none"},
		{"TGI", "text-generation-router --port PORT", pages{"/metrics": "tgi_queue_size 1\n"}, "tgi http://127.0.0.1:PORT pid 7", "/metrics"},
		{"LMDeploy without metrics", "/usr/bin/python3 /usr/bin/lmdeploy serve api_server m --server-port PORT --disable-metrics", pages{"/v1/models": `{"data":[{"id":"m","owned_by":"lmdeploy"}]}`},
			"lmdeploy http://127.0.0.1:PORT model m pid 7 UNREADABLE - LMDeploy on :PORT does not expose metrics: start it without --disable-metrics", ""},
		{"Ray's agent", "/usr/bin/python3 -u /x/ray/dashboard/agent.py --metrics-export-port=PORT", pages{"/metrics": vllmPage}, "vllm http://127.0.0.1:PORT pid 7", "/metrics"},
		{"our own", "/tmp/exe/llmtop serve --addr 127.0.0.1:PORT", pages{"/metrics": vllmPage}, "vllm http://127.0.0.1:PORT pid 7", "/metrics"},
		{"wants credentials", "vllm serve m --port PORT", pages{"/metrics": "401 who; are you?"},
			"vllm http://127.0.0.1:PORT model m pid 7 UNREADABLE - vLLM on :PORT: the server wants credentials: it answered 401 Unauthorized (who; are you?): give them with --auth bearer:TOKEN", "/metrics"},
		{"a server of something else", "/usr/bin/python3 -m http.server", pages{"/metrics": plain}, "", "/prometheus/metrics /metrics /v1/models"},
		{"a page of no engine", "/usr/bin/python3 x.py", pages{"/metrics": "<html>", "/v1/models": `{"data":[]}`}, "", ""},
		{"a proxy of others' models", "/usr/bin/python3 x.py", pages{"/v1/models": `{"data":[{"id":"gpt","owned_by":"openai"}]}`}, "", ""},
		{"a database", "/usr/bin/redis-server 127.0.0.1:PORT", pages{"/metrics": vllmPage}, "", "none"},
		{"a rank", "VLLM::Worker_TP0", pages{"/metrics": vllmPage}, "", "none"},
		{"an engine that fails", "vllm serve m --port PORT", pages{"/metrics": "500 oops", "/v1/models": "500 oops"},
			"vllm http://127.0.0.1:PORT model m pid 7 UNREADABLE - vLLM on :PORT has no metrics page (500 Internal Server Error): name the page, if it has one elsewhere: llmtop http://HOST:PORT/PATH/metrics", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			h.serve("x", c.argv, 7, c.pages)
			if !strings.Contains(c.argv, "PORT") && !strings.HasPrefix(c.want, "dynamo  ") {
				h.low()
			}
			r := h.find(Options{})
			if got := h.report(r); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			asked := strings.ReplaceAll(strings.Join(h.asked, " "), "x ", "")
			if c.asked == "none" && asked != "" || c.asked != "" && c.asked != "none" && asked != c.asked {
				t.Errorf("asked for %q, want %q", asked, c.asked)
			}
		})
	}
}
