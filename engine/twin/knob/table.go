package knob

import "math"

// The knobs.
const (

	// The load. Read by engine/twin/workload.
	Rate ID = iota
	PromptTokens
	OutputTokens
	PrefixReuse
	Prefixes
	GiantPrompts
	GiantTokens
	Adapters
	Guided
	Schemas
	Images
	SlowReaders
	ClientLimit

	// The engine's settings and its software. Read by engine/twin and engine/twin/cost.
	KVPool
	MaxNumSeqs
	TokenBudget
	PrefillChunk
	KVHeadroom
	PrefixCaching
	Admission
	Graphs
	GraphMax
	NewShapes
	Compile
	Kernel
	AttentionKernel
	StepOverhead
	Sampling
	SpecAcceptance
	Hang
	Restart
	Upgrade
	LoadTime
	RouteWeight
	Transfer
	Metrics

	// The front half and what else runs on the CPU. Read by engine/twin; contention by engine/twin/machine.
	Parse
	Auth
	Tokenizer
	TokenizerThreads
	Assemble
	Detokenizer
	Multimodal
	GrammarCompile
	GrammarMask
	LoRASlots
	LoRALoad
	LogLine
	Lock
	GC

	// GPUs and links. Read by engine/twin/device; its clocks by engine/twin/cost.
	PowerCap
	PowerLimit
	PowerBrake
	Cooling
	Inlet
	ClockLock
	ClockLimit
	IdleClocks
	Compute
	Bandwidth
	OtherKernels
	OtherMemory
	Xid
	ECC
	GPULost
	PCIeWidth
	NVLink
	AllReduceLatency

	// The host. Read by engine/twin/machine.
	CPUQuota
	CPUNeighbour
	CPUThreads
	CPUSteal
	MemoryPressure
	Disk
	NUMARemote
	Network
	Retransmits
	ProxyBuffer
	FrameQuantum
	NagleDelay

	NumKnobs
)

var none = math.NaN() // the model decides

// Table is what is known of each knob, by its ID.
var Table = [NumKnobs]Knob{

	Rate:         {Name: "rate", Kind: Factor, Scope: Whole, Default: 1, Max: 1000, Doc: "requests per second"},
	PromptTokens: {Name: "prompt_tokens", Kind: Factor, Scope: Whole, Default: 1, Min: 0.01, Max: 1000, Doc: "lengths of the prompts' own part, the shared prefix left out"},
	OutputTokens: {Name: "output_tokens", Kind: Factor, Scope: Whole, Default: 1, Min: 0.01, Max: 1000, Doc: "lengths of the answers"},
	PrefixReuse:  {Name: "prefix_reuse", Kind: Factor, Scope: Whole, Default: 1, Max: 1, Doc: "share of requests that begin with a prefix others have; those that no longer do are as long as before"},
	Prefixes:     {Name: "prefixes", Kind: Factor, Scope: Whole, Default: 1, Min: 0.01, Max: 10000, Doc: "number of different prefixes in use"},
	GiantPrompts: {Name: "giant_prompts", Kind: Amount, Scope: Whole, Default: none, Max: 1, Doc: "share of requests whose prompt is of giant_tokens"},
	GiantTokens:  {Name: "giant_tokens", Kind: Amount, Scope: Whole, Default: none, Min: 1, Max: 2e6, Integer: true, Doc: "length of a giant prompt"},
	Adapters:     {Name: "adapters", Kind: Amount, Scope: Whole, Default: none, Max: 10000, Integer: true, Doc: "LoRA adapters that requests ask for"},
	Guided:       {Name: "guided", Kind: Amount, Scope: Whole, Default: none, Max: 1, Doc: "share of requests whose answer has a grammar"},
	Schemas:      {Name: "schemas", Kind: Amount, Scope: Whole, Default: none, Min: 1, Max: 1e6, Integer: true, Doc: "different grammars among them"},
	Images:       {Name: "images", Kind: Amount, Scope: Whole, Default: none, Max: 1, Doc: "share of requests with an image"},
	SlowReaders:  {Name: "slow_readers", Kind: Amount, Scope: Whole, Default: none, Max: 1, Doc: "share of clients that read slower than tokens come"},
	ClientLimit:  {Name: "client_limit", Kind: Amount, Scope: Whole, Default: none, Min: 1, Max: 1e6, Integer: true, Doc: "requests that the client has open at most; it sends later what is beyond"},

	KVPool:          {Name: "kv_pool", Kind: Factor, Scope: PerReplica, Default: 1, Min: 0.001, Max: 100, Doc: "blocks of the KV cache"},
	MaxNumSeqs:      {Name: "max_num_seqs", Kind: Amount, Scope: PerReplica, Default: none, Min: 1, Max: 65536, Integer: true, Doc: "sequences in a step"},
	TokenBudget:     {Name: "token_budget", Kind: Amount, Scope: PerReplica, Default: none, Min: 1, Max: 1048576, Integer: true, Doc: "tokens in a step"},
	PrefillChunk:    {Name: "prefill_chunk", Kind: Amount, Scope: PerReplica, Default: none, Max: 1048576, Integer: true, Doc: "most tokens of one prompt in a step; 0: no bound of its own"},
	KVHeadroom:      {Name: "kv_headroom", Kind: Amount, Scope: PerReplica, Default: none, Max: 0.9, Doc: "share of the blocks that stays free when a sequence is admitted"},
	PrefixCaching:   {Name: "prefix_caching", Kind: Switch, Scope: PerReplica, Default: 1, Max: 1, Doc: "blocks are found again by what they hold"},
	Admission:       {Name: "admission", Kind: Switch, Scope: PerReplica, Default: 1, Max: 1, Doc: "off: nothing that waits is ever admitted"},
	Graphs:          {Name: "graphs", Kind: Switch, Scope: PerReplica, Default: 1, Max: 1, Doc: "captured CUDA graphs; off: kernels are launched one by one"},
	GraphMax:        {Name: "graph_max", Kind: Amount, Scope: PerReplica, Default: none, Max: 65536, Integer: true, Doc: "largest batch that has a captured graph"},
	NewShapes:       {Name: "new_shapes", Kind: Amount, Scope: PerReplica, Default: none, Max: 1, Doc: "share of steps of a shape not seen before, whose kernels are compiled first"},
	Compile:         {Name: "compile", Kind: Factor, Scope: PerReplica, Default: 1, Min: 0.001, Max: 1000, Doc: "time to compile the kernels of a new shape"},
	Kernel:          {Name: "kernel", Kind: Factor, Scope: PerReplica, Default: 1, Min: 0.001, Max: 10, Doc: "speed of all kernels (another version, a fallback)"},
	AttentionKernel: {Name: "attention_kernel", Kind: Factor, Scope: PerReplica, Default: 1, Min: 0.001, Max: 10, Doc: "speed of the attention kernels alone"},
	StepOverhead:    {Name: "step_overhead", Kind: Factor, Scope: PerReplica, Default: 1, Max: 1000, Doc: "CPU time of a step, scheduler and launches"},
	Sampling:        {Name: "sampling", Kind: Factor, Scope: PerReplica, Default: 1, Max: 10000, Doc: "time to pick tokens, when that is done on the CPU"},
	SpecAcceptance:  {Name: "spec_acceptance", Kind: Factor, Scope: PerReplica, Default: 1, Max: 10, Doc: "chance that a guess holds"},
	Hang:            {Name: "hang", Kind: Switch, Scope: PerReplica, Max: 1, Doc: "the step that is computed never ends"},
	Restart:         {Name: "restart", Kind: Moment, Scope: PerReplica, Doc: "the engine process starts anew; what is in flight fails"},
	Upgrade:         {Name: "upgrade", Kind: Moment, Scope: PerReplica, Min: 0.01, Max: 100, Doc: "it starts anew with another version whose steps take so many times as long"},
	LoadTime:        {Name: "load_time", Kind: Factor, Scope: PerReplica, Default: 1, Min: 0.001, Max: 1000, Doc: "time from the start until it serves"},
	RouteWeight:     {Name: "route_weight", Kind: Factor, Scope: PerReplica, Default: 1, Max: 1000, Doc: "share of the requests that the router sends there"},
	Metrics:         {Name: "metrics", Kind: Switch, Scope: PerReplica, Default: 1, Max: 1, Doc: "its metrics page answers; off: nobody gets it within the time they wait"},
	Transfer:        {Name: "transfer", Kind: Factor, Scope: Whole, Default: 1, Min: 0.0001, Max: 10, Doc: "bandwidth of KV transfer from prefill to decode instances"},

	Parse:            {Name: "parse", Kind: Factor, Scope: PerReplica, Default: 1, Max: 10000, Doc: "CPU time to read and check a request"},
	Auth:             {Name: "auth", Kind: Amount, Scope: PerReplica, Unit: "ms", Default: none, Max: 60000, Doc: "time that each request waits until somebody else has checked its key; nothing computes"},
	Tokenizer:        {Name: "tokenizer", Kind: Factor, Scope: PerReplica, Default: 1, Max: 10000, Doc: "CPU time from text to tokens"},
	TokenizerThreads: {Name: "tokenizer_threads", Kind: Amount, Scope: PerReplica, Default: none, Min: 1, Max: 1024, Integer: true, Doc: "texts tokenized at once"},
	Assemble:         {Name: "assemble", Kind: Factor, Scope: PerReplica, Default: 1, Max: 10000, Doc: "CPU time of the chat template"},
	Detokenizer:      {Name: "detokenizer", Kind: Factor, Scope: PerReplica, Default: 1, Max: 10000, Doc: "CPU time from a token to text"},
	Multimodal:       {Name: "multimodal", Kind: Factor, Scope: PerReplica, Default: 1, Max: 10000, Doc: "CPU time to decode and resize an image"},
	GrammarCompile:   {Name: "grammar_compile", Kind: Factor, Scope: PerReplica, Default: 1, Max: 10000, Doc: "CPU time to compile a grammar not seen before"},
	GrammarMask:      {Name: "grammar_mask", Kind: Factor, Scope: PerReplica, Default: 1, Max: 10000, Doc: "CPU time of a step for each guided sequence"},
	LoRASlots:        {Name: "lora_slots", Kind: Amount, Scope: PerReplica, Default: none, Min: 1, Max: 10000, Integer: true, Doc: "adapters on the GPU at once"},
	LoRALoad:         {Name: "lora_load", Kind: Factor, Scope: PerReplica, Default: 1, Min: 0.001, Max: 10000, Doc: "time to bring an adapter onto the GPU"},
	LogLine:          {Name: "log_line", Kind: Amount, Scope: PerReplica, Unit: "ms", Default: none, Max: 10000, Doc: "time that the event loop waits for each line it logs, one a request and one a step"},
	Lock:             {Name: "lock", Kind: Amount, Scope: PerReplica, Default: none, Max: 0.99, Doc: "share of time in which somebody else holds the lock that each request takes"},
	GC:               {Name: "gc", Kind: Amount, Scope: PerReplica, Default: none, Max: 0.95, Doc: "share of time in which the collector stops the process"},

	PowerCap:         {Name: "power_cap", Kind: Amount, Scope: PerGPU, Unit: "W", Default: none, Min: 1, Max: 2000, Doc: "enforced power limit"},
	PowerLimit:       {Name: "power_limit", Kind: Factor, Scope: PerGPU, Default: 1, Min: 0.01, Max: 2, Doc: "enforced power limit, of what it is otherwise"},
	PowerBrake:       {Name: "power_brake", Kind: Switch, Scope: PerGPU, Max: 1, Doc: "the power supply asks for less: hardware slows the clocks"},
	Cooling:          {Name: "cooling", Kind: Factor, Scope: PerGPU, Default: 1, Min: 0.05, Max: 10, Doc: "heat carried away per degree"},
	Inlet:            {Name: "inlet", Kind: Amount, Scope: PerGPU, Unit: "C", Default: none, Min: -20, Max: 80, Doc: "temperature of the air that comes in"},
	ClockLock:        {Name: "clock_lock", Kind: Amount, Scope: PerGPU, Unit: "MHz", Default: none, Min: 100, Max: 4000, Doc: "SM clock that somebody has fixed"},
	ClockLimit:       {Name: "clock_limit", Kind: Factor, Scope: PerGPU, Default: 1, Min: 0.05, Max: 1, Doc: "SM clock that somebody has fixed, of the highest"},
	IdleClocks:       {Name: "idle_clocks", Kind: Switch, Scope: PerGPU, Max: 1, Doc: "clocks fall when there is nothing to do and take a while to rise"},
	Compute:          {Name: "compute", Kind: Factor, Scope: PerGPU, Default: 1, Min: 0.01, Max: 2, Doc: "speed of its arithmetic, with nothing to be read of why"},
	Bandwidth:        {Name: "bandwidth", Kind: Factor, Scope: PerGPU, Default: 1, Min: 0.01, Max: 2, Doc: "bandwidth of its memory"},
	OtherKernels:     {Name: "other_kernels", Kind: Amount, Scope: PerGPU, Default: none, Max: 0.99, Doc: "share of the time that another process takes on it"},
	OtherMemory:      {Name: "other_memory", Kind: Amount, Scope: PerGPU, Unit: "GiB", Default: none, Max: 1024, Doc: "memory that another process holds on it"},
	Xid:              {Name: "xid", Kind: Moment, Scope: PerGPU, Min: 1, Max: 999, Integer: true, Doc: "the driver reports this error; those of memory (48, 94, 95, 140) end the engine on it, 79 takes it off the bus"},
	ECC:              {Name: "ecc", Kind: Moment, Scope: PerGPU, Min: 1, Max: 1e6, Integer: true, Doc: "so many uncorrected memory errors, which end the engine on it"},
	GPULost:          {Name: "gpu_lost", Kind: Switch, Scope: PerGPU, Max: 1, Doc: "it has fallen off the bus"},
	PCIeWidth:        {Name: "pcie_width", Kind: Amount, Scope: PerGPU, Default: none, Min: 1, Max: 16, Integer: true, Doc: "lanes of its link"},
	NVLink:           {Name: "nvlink", Kind: Factor, Scope: PerGPU, Default: 1, Min: 0.001, Max: 2, Doc: "bandwidth to the other GPUs"},
	AllReduceLatency: {Name: "allreduce_latency", Kind: Amount, Scope: Whole, Unit: "us", Default: none, Max: 1e6, Doc: "added to every all-reduce"},

	CPUQuota:       {Name: "cpu_quota", Kind: Amount, Scope: Whole, Unit: "cores", Default: none, Min: 0.01, Max: 1024, Doc: "cgroup limit of the engine"},
	CPUNeighbour:   {Name: "cpu_neighbour", Kind: Amount, Scope: Whole, Unit: "cores", Default: none, Max: 1024, Doc: "cores that other processes want"},
	CPUThreads:     {Name: "cpu_threads", Kind: Factor, Scope: Whole, Default: 1, Min: 0.01, Max: 100, Doc: "threads that the engine's libraries start"},
	CPUSteal:       {Name: "cpu_steal", Kind: Amount, Scope: Whole, Default: none, Max: 0.95, Doc: "share of the cores that the hypervisor gives to others"},
	MemoryPressure: {Name: "memory_pressure", Kind: Amount, Scope: Whole, Default: none, Max: 0.95, Doc: "share of time in which tasks wait for memory"},
	Disk:           {Name: "disk", Kind: Amount, Scope: Whole, Unit: "ms", Default: none, Max: 60000, Doc: "time that each write to the disk takes"},
	NUMARemote:     {Name: "numa_remote", Kind: Switch, Scope: Whole, Max: 1, Doc: "the engine runs on the cores far from its GPUs (of a host with more than two: others have one node)"},
	Network:        {Name: "network", Kind: Amount, Scope: Whole, Unit: "MB/s", Default: none, Min: 0.001, Max: 100000, Doc: "bandwidth to the clients"},
	Retransmits:    {Name: "retransmits", Kind: Amount, Scope: Whole, Default: none, Max: 0.5, Doc: "share of segments sent again"},
	ProxyBuffer:    {Name: "proxy_buffer", Kind: Switch, Scope: Whole, Max: 1, Doc: "a proxy in front keeps the answer until it is whole"},
	FrameQuantum:   {Name: "frame_quantum", Kind: Amount, Scope: Whole, Unit: "ms", Default: none, Max: 60000, Doc: "who is in front passes on what has come only so often"},
	NagleDelay:     {Name: "nagle_delay", Kind: Amount, Scope: Whole, Unit: "ms", Default: none, Max: 1000, Doc: "time that the body of a request is held back at the client until its head is acknowledged (Nagle's algorithm with delayed acknowledgements), on connections that are used again"},
}
