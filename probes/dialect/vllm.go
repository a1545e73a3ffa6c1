package dialect

import "llmtop/probes"

// vllm is vLLM's vocabulary: the names of its V1 engine, after them those that
// older releases used (metrics were renamed in 0.9 to 0.13). Our own engine
// speaks it too, and tells its limits in llmtop_engine_config_info.
//
// Labels model_name and engine part the series; a data-parallel server has
// several engines behind one page.
var vllm = table{
	name: "vllm", prefix: "vllm_",
	fields: []field{
		{names: []string{"vllm_num_requests_running"}, types: gauges, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.Running }},
		{names: []string{"vllm_num_requests_waiting", "vllm_num_requests_waiting_by_reason"}, types: gauges, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.Waiting }},
		{names: []string{"vllm_kv_cache_usage_perc", "vllm_gpu_cache_usage_perc"}, types: gauges, join: worst, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.KVUsage }},
		{names: []string{"vllm_cache_config_info"}, types: gauges, labels: []string{"kv_cache_size_tokens", "num_gpu_blocks*block_size"}, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.KVTokens }},
		{names: []string{"llmtop_engine_config_info"}, types: gauges, labels: []string{"max_num_seqs"}, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.MaxRunning }},
		{names: []string{"llmtop_engine_config_info"}, types: gauges, labels: []string{"max_num_batched_tokens"}, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.TokenBudget }},
		{names: []string{"process_start_time_seconds"}, types: gauges, join: least, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.StartUnixSecs }},

		{names: []string{"vllm_prompt_tokens"}, types: counters, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.PromptTokens }},
		{names: []string{"vllm_generation_tokens"}, types: counters, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.GenerationTokens }},
		{names: []string{"vllm_prefix_cache_queries", "vllm_gpu_prefix_cache_queries"}, types: counters, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.PrefixQueries }},
		{names: []string{"vllm_prefix_cache_hits", "vllm_gpu_prefix_cache_hits"}, types: counters, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.PrefixHits }},
		{names: []string{"vllm_num_preemptions"}, types: counters, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.Preemptions }},
		{names: []string{"vllm_request_success"}, types: counters, only: only{finishLabels, []string{"stop", "length", "repetition"}}, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.Finished }},
		{names: []string{"vllm_request_success"}, types: counters, only: only{finishLabels, []string{"abort", "error"}}, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.Failed }},
		{names: []string{"vllm_admission_rejections", "llmtop_requests_rejected"}, types: counters, number: func(e *probes.Engine) *probes.Opt[float64] { return &e.Rejected }},

		{names: []string{"vllm_time_to_first_token_seconds"}, types: histograms, histogram: func(e *probes.Engine) **probes.Histogram { return &e.TTFT }},
		{names: []string{"vllm_request_time_per_output_token_seconds"}, types: histograms, histogram: func(e *probes.Engine) **probes.Histogram { return &e.TPOT }},
		{names: []string{"vllm_inter_token_latency_seconds", "vllm_time_per_output_token_seconds"}, types: histograms, histogram: func(e *probes.Engine) **probes.Histogram { return &e.StepTime }},
		{names: []string{"vllm_e2e_request_latency_seconds"}, types: histograms, histogram: func(e *probes.Engine) **probes.Histogram { return &e.E2E }},
		{names: []string{"vllm_request_queue_time_seconds", "vllm_time_in_queue_requests"}, types: histograms, histogram: func(e *probes.Engine) **probes.Histogram { return &e.Queue }},
		{names: []string{"vllm_request_prefill_time_seconds"}, types: histograms, histogram: func(e *probes.Engine) **probes.Histogram { return &e.Prefill }},
		{names: []string{"vllm_request_decode_time_seconds"}, types: histograms, histogram: func(e *probes.Engine) **probes.Histogram { return &e.Decode }},
		{names: []string{"vllm_request_prompt_tokens"}, types: histograms, histogram: func(e *probes.Engine) **probes.Histogram { return &e.PromptLen }},
		{names: []string{"vllm_request_generation_tokens"}, types: histograms, histogram: func(e *probes.Engine) **probes.Histogram { return &e.OutputLen }},
		{names: []string{"vllm_iteration_tokens"}, types: histograms, histogram: func(e *probes.Engine) **probes.Histogram { return &e.StepTokens }},
	},
}

// finishLabels: vLLM says finished_reason, its public simulator finish_reason.
var finishLabels = []string{"finished_reason", "finish_reason"}
