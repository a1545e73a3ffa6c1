package dialect

import "llmtop/probes"

// nim is the vocabulary of NVIDIA's NIM containers: vLLM's older names without a
// prefix, at /v1/metrics. Only the families together prove it: num_request_max is its own.
// A NIM that serves vLLM's own page is a vllm one.
//
// time_per_output_token_seconds is observed for each step of a request, not each
// request. request_success and request_failure have no reason; request_finish has one.
var nim = table{
	name: "nim", all: []string{"num_requests_running", "num_requests_waiting", "num_request_max"},
	rows: []row{
		{of: "running", names: []string{"num_requests_running"}},
		{of: "waiting", names: []string{"num_requests_waiting"}},
		{of: "kv_usage_ratio", names: []string{"gpu_cache_usage_perc"}},
		{of: "max_num_seqs", names: []string{"num_request_max"}},
		{of: "start_unix_seconds", names: []string{"process_start_time_seconds"}},
		{of: "prompt_tokens_total", names: []string{"prompt_tokens"}},
		{of: "generation_tokens_total", names: []string{"generation_tokens"}},
		{of: "finished_total", names: []string{"request_success"}},
		{of: "finished_total", names: []string{"request_finish"}, where: finish("stop", "length")},
		{of: "failed_total", names: []string{"request_failure"}},
		{of: "failed_total", names: []string{"request_finish"}, where: isNot("finished_reason", "stop", "length")},
		{of: "aborted_total", names: []string{"request_finish"}, where: finish("abort", "cancelled")},
		{of: "ttft_seconds", names: []string{"time_to_first_token_seconds"}},
		{of: "tpot_seconds", names: []string{"time_per_output_token_seconds"}, how: probes.Estimated},
		{of: "step_seconds", names: []string{"time_per_output_token_seconds"}},
		{of: "e2e_seconds", names: []string{"e2e_request_latency_seconds"}},
		{of: "prompt_length_tokens", names: []string{"request_prompt_tokens"}},
		{of: "output_length_tokens", names: []string{"request_generation_tokens"}},
	},
}
