package host

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// Bounds of an engine's tree of processes.
const (
	maxRanks = 1024
	maxDepth = 8
)

// title is a kind of process that engines name: by the beginning of its title (the
// command line, or the 15 bytes of it that the kernel keeps as the command's name).
type title struct{ prefix, name string }

// titles are those of vLLM and SGLang (which set them), of TensorRT-LLM's and MPI's
// workers, of Triton's Python backend and of Ray's actors.
var titles = []title{
	{"VLLM::EngineCore", "engine"}, {"VLLM::EngineCor", "engine"}, {"VLLM::Worker", "worker"},
	{"VLLM::APIServer", "server"}, {"VLLM::DPCoordinator", "frontend"}, {"VLLM::DPCoordin", "frontend"},
	{"sglang::scheduler", "scheduler"}, {"sglang::schedul", "scheduler"}, {"sglang::detokenizer", "detokenizer"},
	{"sglang::detoken", "detokenizer"}, {"sglang::data_parallel_controller", "frontend"}, {"sglang::data_pa", "frontend"},
	{"sglang::http_server", "server"}, {"ray::", "worker"}, {"triton_python_backend_stub", "worker"}, {"triton_python_b", "worker"},
}

// rankWords are the parallelisms that titles number, in the order in which they are told.
var rankWords = []string{"dp", "pp", "tp", "ep"}

var rankNumber = regexp.MustCompile(`(?i)(dp|pp|tp|ep)_?(?:rank_?)?([0-9]{1,4})`)

// coreNumber is that of an engine core whose title does not say that it is a data-parallel rank.
var coreNumber = regexp.MustCompile(`^VLLM::EngineCore_([0-9]{1,4})$`)

// Ranks lists the processes of an engine, of which pid is the one that listens, below
// root: those of its tree that are titled as engines title theirs, and pid itself.
// Ray's actors are no children of who uses them: of one of them its siblings are listed.
func Ranks(root string, pid int) []probes.Rank {
	proc := filepath.Join("/", root, "proc")
	parent, there := parentOf(filepath.Join(proc, strconv.Itoa(pid)))
	if !there {
		return nil
	}
	children := family(proc)
	var ranks []probes.Rank
	take := func(p int, otherwise string) {
		if name := rankName(proc, p, otherwise); name != "" && len(ranks) < maxRanks {
			ranks = append(ranks, probes.Rank{Name: name, PID: p})
		}
	}
	take(pid, "server")
	below(children, pid, 0, map[int]bool{pid: true}, func(p int) { take(p, "") })
	if text := titleOf(proc, pid); strings.HasPrefix(text, "ray::") {
		for _, p := range children[parent] {
			if p != pid && strings.HasPrefix(titleOf(proc, p), "ray::") {
				take(p, "")
			}
		}
	}
	return ranks
}

// family are the children of all processes.
func family(proc string) map[int][]int {
	children := map[int][]int{}
	pids, err := processes(proc)
	if err != nil {
		return children
	}
	for _, p := range pids {
		if of, ok := parentOf(filepath.Join(proc, strconv.Itoa(p))); ok {
			children[of] = append(children[of], p)
		}
	}
	return children
}

// below visits the descendants of a process in the order of their numbers, each once.
func below(children map[int][]int, pid, depth int, seen map[int]bool, visit func(int)) {
	if depth >= maxDepth {
		return
	}
	slices.Sort(children[pid])
	for _, p := range children[pid] {
		if !seen[p] {
			seen[p] = true
			visit(p)
			below(children, p, depth+1, seen, visit)
		}
	}
}

// rankName is what a process of an engine is called: "dp0 tp1", else the kind of
// process it is, "" for one that is none of an engine's.
func rankName(proc string, pid int, otherwise string) string {
	text := titleOf(proc, pid)
	kind := otherwise
	for _, t := range titles {
		if strings.HasPrefix(text, t.prefix) {
			kind = t.name
			break
		}
	}
	if kind == "" && isMPIWorker(proc, pid) {
		kind = "worker"
	}
	if kind == otherwise {
		return kind
	}
	if m := coreNumber.FindStringSubmatch(text); m != nil {
		return "dp" + m[1]
	}
	said := map[string]string{}
	_, text, _ = strings.Cut(text, "::")
	for _, m := range rankNumber.FindAllStringSubmatch(text, -1) {
		said[strings.ToLower(m[1])] = m[2]
	}
	var parts []string
	for _, word := range rankWords {
		if n, ok := said[word]; ok {
			parts = append(parts, word+n)
		}
	}
	if len(parts) == 0 {
		return kind
	}
	return strings.Join(parts, " ")
}

// titleOf is a process's title: the first word of its command line without the path of a
// program, or its name where that is empty.
func titleOf(proc string, pid int) string {
	dir := filepath.Join(proc, strconv.Itoa(pid))
	if argv := argvOf(dir, make([]byte, 512)); argv != nil {
		if strings.HasPrefix(argv[0], "/") {
			return filepath.Base(argv[0])
		}
		return argv[0]
	}
	name, err := read(dir+"/comm", nil)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(name))
}

// isMPIWorker recognises the processes that trtllm-serve starts by mpi4py: "python -m
// mpi4py.futures.server", "mgmn_leader_node".
func isMPIWorker(proc string, pid int) bool {
	argv := argvOf(filepath.Join(proc, strconv.Itoa(pid)), make([]byte, 4096))
	return slices.ContainsFunc(argv, func(s string) bool {
		return s == "mpi4py.futures.server" || s == "tensorrt_llm.llmapi.mgmn_worker_node"
	})
}

// parentOf reads the parent of the process in dir, the field after the name and the state.
func parentOf(dir string) (int, bool) {
	text, err := read(dir+"/stat", nil)
	if err != nil {
		return 0, false
	}
	fields := statFields(text)
	ppid, err := strconv.Atoi(string(fields[statParent]))
	return ppid, err == nil
}
