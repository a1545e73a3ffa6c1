package twin_test

import "llmtop/engine/twin/knob"

type list = []string

// shown says of every knob where it is seen. Signals are those of rules.Table.
var shown = []shows{
	// The load.
	{knob: knob.Rate, mild: "rate ×1.2", severe: "rate ×2.5", up: list{"arrivals.rate", "requests.rate", "tokens.out.rate", "batch.running", "step.mean", "socket.connections", "gpu.nvlink_tx", "gpu.power"}},
	{knob: knob.PromptTokens, mild: "prompt_tokens ×1.3", severe: "prompt_tokens ×4", up: list{"prompt.p50", "tokens.in.rate", "stage.prefill.mean", "gpu.tensor_active"}},
	{knob: knob.OutputTokens, mild: "output_tokens ×1.3", severe: "output_tokens ×3", up: list{"output.p50", "tokens.out.rate", "batch.running", "kv.usage", "e2e.p50"}},
	{knob: knob.PrefixReuse, mild: "prefix_reuse ×0.7", severe: "prefix_reuse ×0", up: list{"stage.prefill.mean", "ttft.p50", "gpu.tensor_active"}, down: list{"prefix.hit_ratio"}},
	{knob: knob.Prefixes, mild: "prefixes ×2", severe: "prefixes ×20", up: list{"stage.prefill.mean", "ttft.p50"}, down: list{"prefix.hit_ratio"}},
	{knob: knob.GiantPrompts, mild: "giant_prompts 0.005; giant_tokens 7000", severe: "giant_prompts 0.1; giant_tokens 7000", up: list{"prompt.p95", "ttft.p95", "step.p99"}},
	{knob: knob.GiantTokens, before: "giant_prompts 0.1; giant_tokens 2000", mild: "giant_tokens 4000", severe: "giant_tokens 7000", up: list{"prompt.p95", "ttft.p95"}},
	{knob: knob.Adapters, mild: "adapters 2", severe: "adapters 40", up: list{"stage.queue.mean", "queue.depth", "ttft.p50", "gpu.pcie_rx"}, down: list{"prefix.hit_ratio"}},
	{knob: knob.Guided, mild: "guided 0.05; schemas 20", severe: "guided 0.6; schemas 500", up: list{"stage.queue.mean", "ttft.p95", "process.cpu_cores"}},
	{knob: knob.Schemas, before: "guided 0.5; schemas 1", mild: "schemas 5", severe: "schemas 500", up: list{"stage.queue.mean", "ttft.p95", "process.cpu_cores"}},
	{knob: knob.Images, mild: "images 0.05", severe: "images 0.5", up: list{"stage.assemble.mean", "ttft.p50", "process.cpu_cores", "profile.other_share", "prompt.p50"}},
	{knob: knob.SlowReaders, mild: "slow_readers 0.02", severe: "slow_readers 0.3", up: list{"stage.send.mean", "socket.send_queue", "socket.stuck", "socket.connections", "e2e.p95"}},
	{knob: knob.ClientLimit, mild: "client_limit 100", severe: "client_limit 4", down: list{"arrivals.rate", "batch.running", "socket.connections"}},

	// The engine's settings and its software.
	{knob: knob.KVPool, mild: "kv_pool ×0.2", severe: "kv_pool ×0.015", up: list{"kv.usage", "kv.peak", "kv.preemption_rate", "stage.queue.mean", "queue.depth"}, down: list{"prefix.hit_ratio"}},
	{knob: knob.MaxNumSeqs, mild: "max_num_seqs 40", severe: "max_num_seqs 5", up: list{"queue.depth", "stage.queue.mean", "ttft.p50"}, down: list{"batch.running", "requests.rate"}},
	{knob: knob.TokenBudget, mild: "token_budget 2048", severe: "token_budget 64", up: list{"prefill.per_token", "stage.prefill.mean", "ttft.p95"}},
	{knob: knob.PrefillChunk, mild: "prefill_chunk 2048", severe: "prefill_chunk 32", up: list{"prefill.per_token", "stage.prefill.mean", "ttft.p95"}},
	{knob: knob.KVHeadroom, before: "kv_pool ×0.03", mild: "kv_headroom 0.05", severe: "kv_headroom 0.7", up: list{"stage.queue.mean", "queue.depth"}, down: list{"kv.peak"}},
	{knob: knob.PrefixCaching, mild: "prefix_caching on", severe: "prefix_caching off", up: list{"stage.prefill.mean", "ttft.p50", "gpu.tensor_active"}, down: list{"prefix.hit_ratio"}},
	{knob: knob.Admission, mild: "admission on", severe: "admission off", up: list{"engine.stalled", "stage.queue.mean", "socket.connections"}, down: list{"batch.running", "gpu.kernel_active", "gpu.power", "tokens.out.rate"}, may: list{"profile.tokenize_share"}},
	{knob: knob.Graphs, mild: "graphs on", severe: "graphs off", up: list{"tpot.p50", "step.mean", "profile.model_share"}, down: list{"gpu.sm_active", "gpu.kernel_active"}},
	{knob: knob.GraphMax, mild: "graph_max 512", severe: "graph_max 4", up: list{"tpot.p50", "step.mean", "profile.model_share"}, down: list{"gpu.sm_active", "gpu.kernel_active"}},
	{knob: knob.NewShapes, mild: "new_shapes 0.0005", severe: "new_shapes 0.02", up: list{"tpot.mean", "step.mean", "ttft.p95", "profile.model_share"}, down: list{"gpu.kernel_active", "gpu.power"}, may: list{"engine.stalled"}},
	{knob: knob.Compile, before: "new_shapes 0.02", mild: "compile ×0.5", severe: "compile ×0.05", up: list{"gpu.kernel_active"}, down: list{"tpot.mean", "step.mean", "ttft.p95"}, may: list{"engine.stalled"}},
	{knob: knob.Kernel, mild: "kernel ×0.8", severe: "kernel ×0.3", up: list{"tpot.p50", "step.p50", "prefill.per_token"}, down: list{"gpu.dram_active"}},
	{knob: knob.AttentionKernel, mild: "attention_kernel ×0.8", severe: "attention_kernel ×0.1", up: list{"tpot.p50", "step.p50"}, down: list{"gpu.dram_active"}},
	{knob: knob.StepOverhead, mild: "step_overhead ×2", severe: "step_overhead ×12", up: list{"tpot.p50", "step.mean"}, down: list{"gpu.kernel_active", "gpu.sm_active"}},
	{knob: knob.Sampling, mild: "sampling ×20", severe: "sampling ×500", up: list{"tpot.p50", "step.p50", "profile.model_share"}, down: list{"gpu.kernel_active", "gpu.power"}},
	{knob: knob.SpecAcceptance, on: "spec", mild: "spec_acceptance ×0.8", severe: "spec_acceptance ×0.1", up: list{"tpot.p50", "batch.running"}, down: list{"spec.acceptance", "spec.step_tokens"}},
	{knob: knob.Hang, mild: "hang off", severe: "hang on", up: list{"engine.stalled", "queue.depth", "socket.connections"}, down: list{"gpu.power", "gpu.dram_active", "gpu.sm_active", "tokens.out.rate", "requests.rate"}},
	{knob: knob.Restart, mild: "load_time ×0.05; restart", severe: "restart", up: list{"instance.silent", "process.disk_read", "gpu.pcie_rx", "engine.stalled"}, down: list{"gpu.kernel_active", "gpu.memory_used_ratio", "batch.running", "socket.connections", "process.cpu_cores"},
		gone: list{"tokens.out.rate", "kv.usage"}, may: list{"host.io_pressure", "host.iowait", "errors.rate", "process.run_wait"}},
	{knob: knob.Upgrade, before: "load_time ×0.05", mild: "upgrade ×1.05", severe: "upgrade ×2", up: list{"tpot.p50", "step.mean"}, down: list{"gpu.dram_active"}, may: list{"instance.silent", "engine.stalled", "errors.rate"}},
	{knob: knob.LoadTime, before: "restart", mild: "load_time ×1", severe: "load_time ×0.05; restart", up: list{"gpu.kernel_active", "tokens.out.rate", "gpu.memory_used_ratio"}, down: list{"instance.silent"},
		may: list{"process.disk_read", "host.io_pressure", "host.iowait", "errors.rate", "process.run_wait"}},
	{knob: knob.RouteWeight, on: "two", mild: "replica0 route_weight ×1.2", severe: "replica0 route_weight ×5", up: list{"instance.tpot_factor", "tpot.p50"}},
	{knob: knob.Transfer, on: "pd", mild: "transfer ×0.5", severe: "transfer ×0.01", up: list{"stage.queue.mean", "ttft.p95", "instance.ttft_factor"}},

	// The front half.
	{knob: knob.Parse, mild: "parse ×3", severe: "parse ×60", up: list{"stage.parse.mean", "ttft.p50", "profile.json_share", "process.cpu_cores"}},
	{knob: knob.Tokenizer, mild: "tokenizer ×3", severe: "tokenizer ×60", up: list{"stage.tokenize.mean", "ttft.p50", "profile.tokenize_share", "process.cpu_cores"}, down: list{"batch.running"}},
	{knob: knob.TokenizerThreads, before: "tokenizer ×60", mild: "tokenizer_threads 2", severe: "tokenizer_threads 8", up: list{"process.cpu_cores"}, down: list{"stage.tokenize.mean", "ttft.p50"}, may: list{"profile.tokenize_share"}},
	{knob: knob.Assemble, mild: "assemble ×5", severe: "assemble ×100", up: list{"stage.assemble.mean", "ttft.p50", "process.cpu_cores"}, may: list{"profile.tokenize_share"}},
	{knob: knob.Detokenizer, mild: "detokenizer ×5", severe: "detokenizer ×60", up: list{"stage.detokenize.mean", "e2e.p50", "profile.detokenize_share", "process.cpu_cores", "socket.connections"}},
	{knob: knob.Multimodal, before: "images 0.3", mild: "multimodal ×2", severe: "multimodal ×10", up: list{"stage.assemble.mean", "ttft.p95", "process.cpu_cores", "profile.other_share"}},
	{knob: knob.GrammarCompile, before: "guided 0.5; schemas 500", mild: "grammar_compile ×1.5", severe: "grammar_compile ×10", up: list{"stage.queue.mean", "ttft.p95", "process.cpu_cores"}},
	{knob: knob.GrammarMask, before: "guided 0.5; schemas 5", mild: "grammar_mask ×3", severe: "grammar_mask ×60", up: list{"tpot.p50", "step.p50", "process.cpu_cores"}, down: list{"gpu.kernel_active", "gpu.power"}},
	{knob: knob.LoRASlots, before: "adapters 8; lora_slots 8", mild: "lora_slots 7", severe: "lora_slots 2", up: list{"stage.queue.mean", "queue.depth", "ttft.p95"}},
	{knob: knob.LoRALoad, before: "adapters 12", mild: "lora_load ×1.5", severe: "lora_load ×10", up: list{"stage.queue.mean", "queue.depth", "ttft.p95"}},
	{knob: knob.LogLine, mild: "log_line 1ms", severe: "log_line 25ms", up: list{"stage.receive.mean", "stage.send.mean", "ttft.p50"}},
	{knob: knob.Lock, mild: "lock 0.3", severe: "lock 0.97", up: list{"stage.queue.mean", "ttft.p95", "process.switches", "profile.lock_share"}},
	{knob: knob.GC, mild: "gc 0.02", severe: "gc 0.25", up: list{"profile.gc_share", "tpot.p95", "ttft.p95"}, down: list{"gpu.kernel_active"}},

	// GPUs and links.
	{knob: knob.PowerCap, mild: "gpu0 power_cap 650W", severe: "gpu0 power_cap 250W", up: list{"gpu.power_capped", "gpu.throttle_power", "gpu.power_ratio", "prefill.per_token"}, down: list{"gpu.limit_ratio", "gpu.sm_clock_ratio", "gpu.spread"}},
	{knob: knob.PowerBrake, mild: "gpu0 power_brake off", severe: "gpu0 power_brake on", up: list{"gpu.power_braked", "prefill.per_token", "tpot.p50"}, down: list{"gpu.sm_clock_ratio", "gpu.spread"}},
	{knob: knob.Cooling, slow: true, mild: "cooling ×0.9", severe: "cooling ×0.06", up: list{"gpu.temperature", "gpu.heat_slowed"}, down: list{"gpu.temperature_margin"}, may: list{"gpu.spread", "gpu.sm_clock_ratio"}},
	{knob: knob.Inlet, mild: "inlet 30C", severe: "inlet 80C", up: list{"gpu.temperature", "gpu.heat_slowed"}, down: list{"gpu.temperature_margin"}, may: list{"gpu.spread", "gpu.sm_clock_ratio"}},
	{knob: knob.ClockLock, mild: "gpu0 clock_lock 1950MHz", severe: "gpu0 clock_lock 600MHz", up: list{"tpot.p50", "prefill.per_token"}, down: list{"gpu.sm_clock_ratio", "gpu.spread"}},
	{knob: knob.IdleClocks, on: "quiet", mild: "idle_clocks off", severe: "idle_clocks on", up: list{"stage.prefill.mean"}, down: list{"gpu.power"}, may: list{"gpu.sm_clock_ratio"}},
	{knob: knob.Compute, mild: "gpu0 compute ×0.9", severe: "gpu0 compute ×0.2", up: list{"tpot.p50", "prefill.per_token"}, down: list{"gpu.dram_active", "gpu.power"}},
	{knob: knob.Bandwidth, mild: "gpu0 bandwidth ×0.9", severe: "gpu0 bandwidth ×0.3", up: list{"tpot.p50", "step.p50"}, down: list{"gpu.dram_active", "gpu.power"}},
	{knob: knob.OtherKernels, mild: "gpu0 other_kernels 0.1", severe: "gpu0 other_kernels 0.5", up: list{"gpu.other_processes", "gpu.other_active", "gpu.other_memory", "tpot.p50"}},
	{knob: knob.OtherMemory, mild: "gpu0 other_memory 1GiB", severe: "gpu0 other_memory 5GiB", up: list{"gpu.other_processes", "gpu.other_memory"}},
	{knob: knob.Xid, before: "load_time ×0.05", mild: "gpu0 xid 13", severe: "gpu0 xid 94", up: list{"gpu.remap_pending", "gpu.recovery_wanted"}, may: list{"gpu.xid", "gpu.ecc_uncorrected", "instance.silent", "engine.stalled", "errors.rate"}},
	{knob: knob.ECC, before: "load_time ×0.05", mild: "gpu0 ecc 1", severe: "gpu0 ecc 5", up: list{"gpu.remap_pending", "gpu.recovery_wanted"}, may: list{"gpu.xid", "gpu.ecc_uncorrected", "instance.silent", "engine.stalled", "errors.rate"}},
	{knob: knob.GPULost, mild: "gpu0 gpu_lost off", severe: "gpu0 gpu_lost on", up: list{"gpu.lost", "instance.silent", "engine.stalled"}, down: list{"gpu.power", "gpu.memory_used_ratio"}, gone: list{"process.cpu_cores", "tokens.out.rate"}, may: list{"gpu.xid", "errors.rate"}},
	{knob: knob.PCIeWidth, on: "pcie", mild: "pcie_width 16", severe: "pcie_width 2", up: list{"tpot.p50", "prefill.per_token", "step.mean"}, down: list{"gpu.pcie_link", "gpu.power"}},
	{knob: knob.NVLink, mild: "nvlink ×1", severe: "nvlink ×0.02", up: list{"gpu.nvlinks_down", "tpot.p50", "prefill.per_token"}, down: list{"gpu.dram_active"}},
	{knob: knob.AllReduceLatency, mild: "allreduce_latency 3us", severe: "allreduce_latency 100us", up: list{"tpot.p50", "step.p50"}, down: list{"gpu.dram_active"}},

	// The host.
	{knob: knob.CPUQuota, mild: "cpu_quota 14cores", severe: "cpu_quota 0.7cores", up: list{"process.throttled", "process.throttled_time", "process.run_wait", "host.cpu_pressure", "tpot.p50", "stage.tokenize.mean"}, down: list{"process.cpu_cores"}},
	{knob: knob.CPUNeighbour, mild: "cpu_neighbour 2cores", severe: "cpu_neighbour 60cores", up: list{"host.other_share", "host.other_cpu", "process.run_wait", "host.cpu_pressure", "neighbour.cpu", "tpot.p50", "stage.tokenize.mean"}, down: list{"gpu.kernel_active"}},
	{knob: knob.CPUThreads, mild: "cpu_threads ×1.5", severe: "cpu_threads ×8", up: list{"process.cpu_cores", "process.run_wait", "process.switches", "host.cpu_busy", "stage.tokenize.mean"}},
	{knob: knob.CPUSteal, mild: "cpu_steal 0.02", severe: "cpu_steal 0.7", up: list{"host.steal", "tpot.p50", "stage.tokenize.mean"}, may: list{"host.other_share"}},
	{knob: knob.MemoryPressure, mild: "memory_pressure 0.02", severe: "memory_pressure 0.6", up: list{"host.memory_pressure", "host.swap_in", "process.major_faults", "host.io_pressure", "process.blocked", "stage.tokenize.mean"}, down: list{"host.memory_available", "process.cpu_cores"}, may: list{"host.iowait"}},
	{knob: knob.Disk, mild: "disk 2ms", severe: "disk 60ms", up: list{"host.disk_wait", "host.io_pressure", "process.blocked", "host.iowait", "stage.receive.mean", "ttft.p50"}},
	{knob: knob.NUMARemote, on: "four", mild: "numa_remote off", severe: "numa_remote on", up: list{"process.numa_remote"}, down: list{"process.cpus_allowed"}},
	{knob: knob.Network, mild: "network 1000MB/s", severe: "network 0.3MB/s", up: list{"host.net_share", "socket.send_queue", "stage.send.mean", "stage.receive.mean", "socket.connections"}, may: list{"socket.stuck"}},
	{knob: knob.ProxyBuffer, on: "canary", mild: "proxy_buffer off", severe: "proxy_buffer on", up: list{"canary.ttft", "canary.ttft_excess", "canary.buffered"}, gone: list{"canary.itl"}},
	{knob: knob.Retransmits, mild: "retransmits 0.001", severe: "retransmits 0.1", up: list{"host.retransmits", "stage.receive.mean", "ttft.p95"}},
}
