package machine

import (
	"strconv"
	"strings"
)

// language is what an engine's frames look like.
type language int

const (
	python language = iota
	golang
	cpp
)

// personality is how the processes of an engine are called and who of them does what.
type personality struct {
	name     string
	language language
	launched bool // by a process that is no member of it, not by the service manager
	roles    []role
	alone    []role // when there is one rank only, where that differs
}

// role is a process that an engine has, or one for each rank. Parent is its place in the
// list; the first one listens.
type role struct {
	name    string // as the kernel keeps it: 15 bytes
	rank    string // as probes/host reads its title; of ranked ones it is their number
	ranked  bool
	numbers bool // its title says which rank it is
	parent  int
	memory  float64 // GiB resident
	threads float64 // that do nothing worth telling
	lanes   []laneSpec
}

// laneSpec are threads of a process that are alike.
type laneSpec struct {
	name    string // "" is that of the process
	threads int
	parts   []Part
	spin    spin
	kind    kind
}

// kind says where the number of threads comes from.
type kind int

const (
	fixed      kind = iota
	tokenizers      // knob tokenizer_threads
	libraries       // knob cpu_threads
)

// spin says when a thread that has nothing to do keeps its core busy.
type spin int

const (
	never    spin = iota
	stepping      // while it waits for a GPU
	always        // it asks for requests without a pause
)

var (
	tokenizerPool = laneSpec{threads: 1, parts: []Part{Tokenize}, kind: tokenizers}
	imagePool     = laneSpec{threads: 8, parts: []Part{Images}}
	grammarPool   = laneSpec{threads: 4, parts: []Part{GrammarCompile}}
	libraryPool   = laneSpec{kind: libraries, spin: stepping}
)

var apiServer = []laneSpec{
	{threads: 1, parts: []Part{Receive, Assemble, Detokenize, Send, Logging, GC}}, tokenizerPool, imagePool,
}

var personalities = []personality{
	{name: "vllm", language: python,
		roles: []role{
			{name: "vllm", rank: "server", memory: 2.2, threads: 70, lanes: apiServer},
			{name: "VLLM::EngineCor", rank: "engine", memory: 1.6, threads: 60, lanes: []laneSpec{{threads: 1, parts: []Part{Schedule, GrammarMask}}, grammarPool}},
			{name: "VLLM::Worker_TP", rank: "worker", ranked: true, numbers: true, parent: 1, memory: 5.5, threads: 110, lanes: []laneSpec{{threads: 1, parts: []Part{Launch, Sampling, Compile}, spin: stepping}, libraryPool}},
		},
		alone: []role{
			{name: "vllm", rank: "server", memory: 2.2, threads: 70, lanes: apiServer},
			{name: "VLLM::EngineCor", rank: "engine", ranked: true, memory: 5.8, threads: 120, lanes: []laneSpec{{threads: 1, parts: []Part{Schedule, GrammarMask, Launch, Sampling, Compile}, spin: stepping}, grammarPool, libraryPool}},
		}},
	{name: "sglang", language: python,
		roles: []role{
			{name: "sglang::http_se", rank: "server", memory: 2.4, threads: 80, lanes: []laneSpec{{threads: 1, parts: []Part{Receive, Assemble, Send, Logging, GC}}, tokenizerPool, imagePool}},
			{name: "sglang::schedul", rank: "scheduler", ranked: true, numbers: true, memory: 5.2, threads: 100, lanes: []laneSpec{{threads: 1, parts: []Part{Schedule, GrammarMask, Launch, Sampling, Compile}, spin: always}, grammarPool, libraryPool}},
			{name: "sglang::detoken", rank: "detokenizer", memory: 1.1, threads: 40, lanes: []laneSpec{{threads: 1, parts: []Part{Detokenize}}}},
		}},
	{name: "tgi", language: python, launched: true,
		roles: []role{
			{name: "text-generation", rank: "server", memory: 0.5, threads: 40, lanes: []laneSpec{{name: "tokio-runtime-w", threads: 8, parts: []Part{Receive, Assemble, Send, Logging}}, tokenizerPool, imagePool}},
			{name: "text-generation", ranked: true, memory: 5.0, threads: 100, lanes: []laneSpec{{threads: 1, parts: []Part{Schedule, GrammarCompile, GrammarMask, Launch, Sampling, Detokenize, Compile, GC}, spin: stepping}, libraryPool}},
		}},
	{name: "trtllm", language: python,
		roles: []role{
			{name: "trtllm-serve", rank: "server", memory: 2.8, threads: 90, lanes: apiServer},
			{name: "python3", rank: "worker", ranked: true, memory: 6.0, threads: 120, lanes: []laneSpec{{threads: 1, parts: []Part{Schedule, GrammarCompile, GrammarMask, Launch, Sampling, Compile}, spin: stepping}, libraryPool}},
		}},
	{name: "llamacpp", language: cpp,
		roles: []role{
			{name: "llama-server", rank: "server", memory: 1.2, threads: 12, lanes: []laneSpec{
				{threads: 1, parts: []Part{Schedule, GrammarCompile, GrammarMask, Launch, Sampling, Detokenize, Logging, Compile, GC}, spin: stepping},
				{threads: 8, parts: []Part{Receive, Assemble, Send}}, tokenizerPool, imagePool, libraryPool}},
		}},
	{name: "llmtop", language: golang,
		roles: []role{
			{name: "llmtop", rank: "server", memory: 1.0, threads: 6, lanes: []laneSpec{
				{threads: 1, parts: []Part{Schedule, GrammarMask, Launch, Sampling, Compile}},
				{threads: 4, parts: []Part{Receive, Assemble, GrammarCompile, Detokenize, Send, Logging, GC}}, tokenizerPool, imagePool, libraryPool}},
		}},
}

// personalityOf finds one by its name.
func personalityOf(name string) *personality {
	for i := range personalities {
		if personalities[i].name == name {
			return &personalities[i]
		}
	}
	return nil
}

// Personalities are the names of the engines whose processes are known.
func Personalities() []string {
	names := make([]string, len(personalities))
	for i := range personalities {
		names[i] = personalities[i].name
	}
	return names
}

func (p *personality) rolesFor(ranks int) []role {
	if ranks == 1 && p.alone != nil {
		return p.alone
	}
	return p.roles
}

// processName is what the kernel keeps of a title: of ranks the stage comes first where there
// are several.
func (c *Config) processName(r *role) string {
	if name, ok := strings.CutSuffix(r.name, "_TP"); ok && c.PP > 1 {
		return name + "_PP"
	}
	return r.name
}

// rankName is what a title tells of a rank, as probes/host writes it.
func (c *Config) rankName(r *role, rank int) string {
	switch {
	case !r.numbers || c.ranks() == 1:
		return r.rank
	case c.PP == 1:
		return "tp" + strconv.Itoa(rank)
	}
	name := "pp" + strconv.Itoa(rank/c.TP)
	if c.TP > 1 {
		name += " tp" + strconv.Itoa(rank%c.TP)
	}
	return name
}
