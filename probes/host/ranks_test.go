package host

import (
	"fmt"
	"strings"
	"testing"
)

// family puts processes into a machine: "pid parent comm: command line" a line.
func (m machine) family(text string) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		head, argv, _ := strings.Cut(strings.TrimSpace(line), ": ")
		var pid, parent int
		var comm string
		fmt.Sscanf(head, "%d %d %s", &pid, &parent, &comm)
		m.put(fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (%s) S %d 1 1 0\n", pid, comm, parent))
		m.put(fmt.Sprintf("%d/comm", pid), comm+"\n")
		m.put(fmt.Sprintf("%d/cmdline", pid), strings.ReplaceAll(argv, " ", "\x00"))
	}
}

func TestRanks(t *testing.T) {
	for name, c := range map[string]struct {
		family string
		pid    int
		want   string
	}{
		"vLLM, two ways data, two ways tensor parallel": {`
			100 1 vllm: /usr/bin/python3 /usr/bin/vllm serve m
			101 100 python3: /usr/bin/python3 -c from multiprocessing.resource_tracker import main
			110 100 VLLM::EngineCor: VLLM::EngineCore_DP0
			120 100 VLLM::EngineCor: VLLM::EngineCore_DP1
			111 110 VLLM::Worker_DP: VLLM::Worker_DP0_TP0_EP0
			112 110 VLLM::Worker_DP: VLLM::Worker_DP0_TP1_EP1
			121 120 VLLM::Worker_DP: VLLM::Worker_DP1_TP0_EP2
			200 1 VLLM::EngineCor: VLLM::EngineCore_DP7`, 100,
			"server 100, dp0 110, dp0 tp0 ep0 111, dp0 tp1 ep1 112, dp1 120, dp1 tp0 ep2 121"},
		"vLLM with several servers": {`
			100 1 vllm: /usr/bin/python3 /usr/bin/vllm serve m
			101 100 VLLM::APIServer: VLLM::APIServer_0
			102 100 VLLM::DPCoordin: VLLM::DPCoordinator
			103 100 VLLM::EngineCor: VLLM::EngineCore_0
			104 103 VLLM::Worker_PP: VLLM::Worker_PP1_TP0`, 100, "server 100, server 101, frontend 102, dp0 103, pp1 tp0 104"},
		"a title of which the kernel kept the beginning": {`
			100 1 python3: python3 -m sglang.launch_server
			101 100 sglang::schedul: 
			102 100 sglang::detoken: `, 100, "server 100, scheduler 101, detokenizer 102"},
		"SGLang": {`
			100 1 python3: python3 -m sglang.launch_server
			101 100 sglang::schedul: sglang::scheduler_DP1_TP3
			102 100 sglang::detoken: sglang::detokenizer
			103 100 sglang::data_pa: sglang::data_parallel_controller`, 100, "server 100, dp1 tp3 101, detokenizer 102, frontend 103"},
		"trtllm-serve": {`
			100 1 trtllm-serve: /usr/bin/python3 /usr/bin/trtllm-serve m
			101 100 python3: /usr/bin/python3 -m mpi4py.futures.server
			102 100 python3: /usr/bin/python3 -c nothing`, 100, "server 100, worker 101"},
		"Triton": {`
			100 1 tritonserver: /opt/tritonserver/bin/tritonserver --model-repository=/m
			101 100 triton_python_b: /opt/tritonserver/backends/python/triton_python_backend_stub /m/1/model.py`, 100, "server 100, worker 101"},
		"Ray": {`
			90 1 raylet: /ray/raylet
			100 90 ray::ServeRepli: ray::ServeReplica:llm
			101 90 ray::RayWorker: ray::RayWorkerWrapper
			102 90 ray::IDLE: python`, 100, "worker 100, worker 101"},
		"our own":        {"100 1 llmtop: llmtop serve\n101 100 sh: sh", 100, "server 100"},
		"nobody":         {"100 1 vllm: vllm", 99, ""},
		"going in rings": {"100 101 vllm: vllm serve\n101 100 VLLM::Worker: VLLM::Worker_TP0", 100, "server 100, tp0 101"},
		"a hostile name": {"100 1 a)_S_1_(b: vllm serve\n101 100 x: VLLM::Worker_TP99999_\x1b[31m", 100, "server 100, tp9999 101"},
	} {
		m := newMachine(t)
		m.family(c.family)
		m.put("300/stat", "no stat at all")
		var got []string
		for _, r := range Ranks(m.root, c.pid) {
			got = append(got, fmt.Sprintf("%s %d", r.Name, r.PID))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, text, c.want)
		}
	}
}
