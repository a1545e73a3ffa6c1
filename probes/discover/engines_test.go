package discover

import (
	"strings"
	"testing"
)

func TestPorts(t *testing.T) {
	for argv, want := range map[string][2]uint16{
		"vllm serve m":                             {8000, 0},
		"vllm serve m --port 1 --port=2":           {2, 0},
		"vllm serve m -p 9":                        {9, 0},
		"vllm serve m --port x":                    {8000, 0},
		"vllm serve m --port 99999":                {8000, 0},
		"vllm serve m --port":                      {8000, 0},
		"tritonserver --http-port=1":               {1, 8002},
		"tritonserver --metrics-port 5":            {8000, 5},
		"llmtop serve --addr :7":                   {7, 0},
		"llmtop serve --addr=[::1]:7":              {7, 0},
		"/x/python3.11 -m sglang.launch_server":    {30000, 0},
		"python -u -X dev -m dynamo.frontend":      {8000, 0},
		"python -m dynamo.frontend --http-port 12": {12, 0},
	} {
		words := strings.Fields(argv)
		e, ok := engineOf(words)
		if got := [2]uint16{e.portOf(words), e.metricsPort(words)}; !ok || got != want {
			t.Errorf("%s: %v, %v; want %v", argv, ok, got, want)
		}
	}
}

func TestWhatIsNoEngine(t *testing.T) {
	for _, argv := range []string{
		"vllm bench serve2", "vllm chat", "vim vllm serve", "python3", "python3 -m", "python3 -c vllm.entrypoints.x", "python3 vllm.entrypoints.openai", "grep llama-server",
		"llama-cli", "sh -c vllm serve m", "tail -f /var/log/vllm serve", "llmtop http://127.0.0.1:8000", "llmtop record serve2", "VLLM::EngineCore", "VLLM::Worker_TP0", "sglang::scheduler", "ray::IDLE",
	} {
		if e, ok := engineOf(strings.Fields(argv)); ok {
			t.Errorf("%s passes for %s", argv, e.title)
		}
	}
}

func TestModels(t *testing.T) {
	for argv, want := range map[string]string{
		"vllm serve org/m --port 1": "org/m", "vllm serve --model m": "m", "vllm serve org/m --served-model-name x": "x",
		"llama-server -m /m/x.gguf": "/m/x.gguf", "llama-server -m /m/x.gguf --alias y": "y", "python3 -m sglang.launch_server --model-path=m": "m",
		"lmdeploy serve api_server m": "", "vllm serve": "", "vllm serve --model": "", "tritonserver": "", "": "",
	} {
		if got := modelOf(strings.Fields(argv)); got != want {
			t.Errorf("%s: %q, want %q", argv, got, want)
		}
	}
}

func FuzzCommand(f *testing.F) {
	f.Add("python3\x00-m\x00vllm.entrypoints.x\x00--port\x001")
	f.Add("docker-proxy\x00-container-ip\x00172.17.0.2\x00-container-port\x008000")
	f.Fuzz(func(t *testing.T, text string) {
		argv := strings.Split(text, "\x00")
		e, is := engineOf(argv)
		if is && e.title == "" {
			t.Error("an engine without a name")
		}
		e.portOf(argv)
		modelOf(argv)
		proxied(argv)
		internal(argv)
		refused(argv, 8000)
		Promising(argv)
	})
}
