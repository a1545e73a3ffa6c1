package dialect

import "llmtop/probes"

// tgi is the vocabulary of Text Generation Inference. Its series have no labels that
// tell engines apart, and no model. Latencies and tokens are observed when a request ends
// well; the prompt's length when it has been validated.
//
// What it does not tell: a time to the first token (there is nothing to make it from: the
// time of a prefill is that of a batch), a time of decode, how full the KV cache is
// (tgi_batch_current_max_tokens is what the batch may grow to), what its prefix cache
// finds. Summaries have quantiles of a span of their own choice: only their sums are read.
var tgi = table{
	name: "tgi", prefix: "tgi_",
	finishes: true,
	rows: []row{
		{of: "running", names: []string{"tgi_batch_current_size"}},
		{of: "waiting", names: []string{"tgi_queue_size"}},                                            // counted anew when a batch is taken from it
		{of: "kv_cache_tokens", names: []string{"tgi_batch_max_total_tokens"}, how: probes.Estimated}, // the batch's budget, by default what fits into memory
		{of: "start_unix_seconds", names: []string{"process_start_time_seconds"}},

		{of: "prompt_tokens_total", names: []string{"tgi_request_input_length_sum"}, how: probes.Estimated}, // on arrival
		{of: "generation_tokens_total", names: []string{"tgi_request_generated_tokens_sum"}},
		{of: "finished_total", names: []string{"tgi_request_success"}},
		// What does not pass validation is the client's mistake and no failure.
		{of: "failed_total", names: []string{"tgi_request_failure"}, where: is("err", "generation", "incomplete", "dropped")},
		{of: "aborted_total", names: []string{"tgi_request_failure"}, where: is("err", "dropped")},
		{of: "rejected_total", names: []string{"tgi_request_failure"}, where: is("err", "overloaded")},
		{of: "spec_accepted_tokens_total", names: []string{"tgi_request_skipped_tokens_sum"}}, // its count is every step of every request

		{of: "tpot_seconds", names: []string{"tgi_request_mean_time_per_token_duration"}, how: probes.Estimated}, // prefill included
		{of: "step_seconds", names: []string{"tgi_batch_inference_duration"}, where: is("method", "decode"), how: probes.Estimated},
		{of: "e2e_seconds", names: []string{"tgi_request_duration"}},
		{of: "frontend_seconds", names: []string{"tgi_request_validation_duration"}},
		{of: "queue_seconds", names: []string{"tgi_request_queue_duration"}},
		{of: "prefill_seconds", names: []string{"tgi_batch_inference_duration"}, where: is("method", "prefill"), how: probes.Estimated}, // one value a batch
		{of: "prompt_length_tokens", names: []string{"tgi_request_input_length"}},
		{of: "output_length_tokens", names: []string{"tgi_request_generated_tokens"}},
	},
}
