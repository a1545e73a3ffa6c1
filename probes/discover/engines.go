package discover

import (
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
)

// engine is how an engine is recognised by the command line of its process, and where it
// listens. The columns follow what their documentation says of programs, flags and ports.
type engine struct {
	dialect string
	title   string   // for people
	program string   // the program or script, without its path
	module  string   // or the beginning of the module that Python runs
	word    string   // a word that must follow; "" for any
	shown   string   // what the command is called
	port    uint16   // where it listens by default
	flags   []string // that name the port
	address string   // a flag that names host:port
	pages   []string // where its metrics may be, in the order of asking; nil: as probes.MetricsPages
	metrics []string // flags that name a port of the metrics' own, whose default is other
	other   uint16
	worker  bool // it listens for metrics only if that is configured
}

var portFlags = []string{"--port", "-p"}

// engines lists them; the first that fits is it.
func engines() []engine {
	return []engine{
		{dialect: "nim", title: "NIM", module: "vllm_nvext.", shown: "NIM", port: 8000, flags: portFlags, pages: []string{"/v1/metrics", "/metrics"}},
		{dialect: "vllm", title: "vLLM", program: "vllm", word: "serve", shown: "vllm serve", port: 8000, flags: portFlags},
		{dialect: "vllm", title: "vLLM", module: "vllm.entrypoints.", shown: "vllm", port: 8000, flags: portFlags},
		{dialect: "vllm", title: "vLLM", program: "VLLM::APIServer", shown: "vllm serve", port: 8000},
		{dialect: "sglang", title: "SGLang", module: "sglang.launch_server", shown: "sglang.launch_server", port: 30000, flags: portFlags},
		{dialect: "sglang", title: "SGLang", program: "sglang", word: "serve", shown: "sglang serve", port: 30000, flags: portFlags},
		{dialect: "sglang", title: "SGLang", program: "sglang::http_server", shown: "sglang", port: 30000},
		{dialect: "tgi", title: "TGI", program: "text-generation-router", shown: "text-generation-router", port: 3000, flags: portFlags},
		{dialect: "llamacpp", title: "llama.cpp", program: "llama-server", shown: "llama-server", port: 8080, flags: []string{"--port"}},
		{dialect: "trtllm", title: "trtllm-serve", program: "trtllm-serve", shown: "trtllm-serve", port: 8000, flags: portFlags, pages: trtllmPages},
		{dialect: "trtllm", title: "trtllm-serve", module: "tensorrt_llm.commands.serve", shown: "trtllm-serve", port: 8000, flags: portFlags, pages: trtllmPages},
		{dialect: "triton", title: "Triton", program: "tritonserver", shown: "tritonserver", port: 8000, flags: []string{"--http-port"},
			pages: []string{"/metrics"}, metrics: []string{"--metrics-port"}, other: 8002},
		{dialect: "dynamo", title: "Dynamo", module: "dynamo.frontend", shown: "dynamo.frontend", port: 8000, flags: []string{"--http-port"}, pages: []string{"/metrics"}},
		{dialect: "dynamo", title: "Dynamo", module: "dynamo.vllm", shown: "dynamo.vllm", port: 8081, pages: []string{"/metrics"}, worker: true},
		{dialect: "dynamo", title: "Dynamo", module: "dynamo.sglang", shown: "dynamo.sglang", port: 8081, pages: []string{"/metrics"}, worker: true},
		{dialect: "dynamo", title: "Dynamo", module: "dynamo.trtllm", shown: "dynamo.trtllm", port: 8081, pages: []string{"/metrics"}, worker: true},
		{dialect: "dynamo", title: "Dynamo", module: "dynamo.mocker", shown: "dynamo.mocker", port: 8081, pages: []string{"/metrics"}, worker: true},
		{dialect: "lmdeploy", title: "LMDeploy", program: "lmdeploy", word: "serve", shown: "lmdeploy serve", port: 23333, flags: []string{"--server-port"}},
		{dialect: "ray", title: "Ray", program: "dashboard/agent.py", shown: "Ray's metrics agent", port: 8080, flags: []string{"--metrics-export-port"}, pages: []string{"/metrics"}},
		{dialect: "vllm", title: "llmtop", program: "llmtop", word: "serve", shown: "llmtop serve", port: 8000, address: "--addr"},
	}
}

// trtllmPages leave /metrics out: reading it takes from a queue what its own reader waits for.
var trtllmPages = []string{"/prometheus/metrics"}

// commonPorts are where engines listen by default, whoever the process is: vLLM,
// trtllm-serve, Dynamo and ours 8000 (and the next ones for replicas), Triton's metrics
// 8002, llama.cpp and Ray 8080, Dynamo workers 8081, SGLang 30000, TGI 3000, LMDeploy 23333.
var commonPorts = []uint16{8000, 8001, 8002, 8003, 8080, 8081, 30000, 3000, 23333}

// CommonPorts are the ports that engines listen on by default.
func CommonPorts() []uint16 { return slices.Clone(commonPorts) }

// engineOf recognises an engine by its command line.
func engineOf(argv []string) (engine, bool) {
	program, script, args := command(argv)
	for _, e := range engines() {
		switch {
		case e.module != "" && !strings.HasPrefix(program, e.module):
		case e.module != "" && !script: // "python -m" names modules
			return e, true
		case e.program == "" || !isProgram(program, e.program):
		case e.word == "" || slices.Contains(args[:min(len(args), 8)], e.word):
			return e, true
		}
	}
	return engine{}, false
}

// isProgram compares a path with a program's name, or with the end of its path.
func isProgram(program, name string) bool {
	if strings.Contains(name, "::") {
		return strings.HasPrefix(program, name)
	}
	return program == name || strings.HasSuffix(program, "/"+name)
}

// command takes an interpreter off a command line: the script or the module that it
// runs, and what follows. A module is not a script.
func command(argv []string) (program string, script bool, args []string) {
	if len(argv) == 0 {
		return "", true, nil
	}
	if !isPython(argv) {
		return argv[0], true, argv[1:]
	}
	for i := 1; i < len(argv); i++ {
		switch arg := argv[i]; {
		case arg == "-m" && i+1 < len(argv):
			return argv[i+1], false, argv[i+2:]
		case arg == "-c":
			return "", true, nil
		case arg == "-X" || arg == "-W":
			i++
		case !strings.HasPrefix(arg, "-"):
			return arg, true, argv[i+1:]
		}
	}
	return "", true, nil
}

func isPython(argv []string) bool {
	return len(argv) > 0 && strings.HasPrefix(path.Base(argv[0]), "python")
}

// Promising reports a process that is an engine's by its command line, or a forwarder of
// a container's port: worth knowing even if it seems to listen nowhere.
func Promising(argv []string) bool {
	_, is := engineOf(argv)
	return is || isForwarder(argv)
}

// portOf is the port that a command line names, else the engine's default.
func (e *engine) portOf(argv []string) uint16 {
	if p, ok := flagPort(argv, e.flags); ok {
		return p
	}
	if address, ok := flag(argv, e.address); ok {
		if _, port, err := net.SplitHostPort(address); err == nil {
			return parsePort(port)
		}
	}
	return e.port
}

// metricsPort is the port of the metrics' own, 0 where the engine has none.
func (e *engine) metricsPort(argv []string) uint16 {
	if p, ok := flagPort(argv, e.metrics); ok {
		return p
	}
	return e.other
}

func flagPort(argv, flags []string) (uint16, bool) {
	for _, name := range flags {
		if value, ok := flag(argv, name); ok {
			if p := parsePort(value); p > 0 {
				return p, true
			}
		}
	}
	return 0, false
}

// flag is the value of --name VALUE or --name=VALUE; the last one counts.
func flag(argv []string, name string) (value string, ok bool) {
	if name == "" {
		return "", false
	}
	for i, arg := range argv {
		switch rest, cut := strings.CutPrefix(arg, name); {
		case arg == name && i+1 < len(argv):
			value, ok = argv[i+1], true
		case cut && strings.HasPrefix(rest, "="):
			value, ok = rest[1:], true
		}
	}
	return value, ok
}

func parsePort(s string) uint16 {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}

// modelOf is the model that a command line names.
func modelOf(argv []string) string {
	for _, name := range []string{"--served-model-name", "--alias", "--model-name", "--model", "--model-path", "--model-id", "-m"} {
		if value, ok := flag(argv, name); ok && !strings.HasPrefix(value, "-") && !(name == "-m" && isPython(argv)) {
			return unsigned(value)
		}
	}
	_, _, args := command(argv)
	if i := slices.Index(args, "serve"); i >= 0 && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && args[i+1] != "api_server" {
		return unsigned(args[i+1])
	}
	return ""
}

// unsigned is a model's name; of a URL what is no secret: without user, password and query.
func unsigned(model string) string {
	scheme, rest, is := strings.Cut(model, "://")
	if !is {
		return model
	}
	rest, _, _ = strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	return strings.TrimSuffix(scheme+"://"+host+"/"+path, "/")
}

func has(argv []string, name string) bool {
	return slices.ContainsFunc(argv, func(a string) bool { return a == name || strings.HasPrefix(a, name+"=") })
}
