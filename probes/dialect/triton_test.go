package dialect

import (
	"testing"
)

func TestTriton(t *testing.T) {
	e := checkPage(t, "triton-trtllm-24.08", "triton", []wanted{
		{"scheduled, not the active that wait too", "running", "18", exact},
		{"6 in the batcher, 2 before tensorrt_llm; 5 before preprocessing are not at the engine", "waiting", "8", exact},
		{"1500 of 4000 blocks; the fraction beside them says .6125", "kv_usage_ratio", "0.375", difference},
		{"4000 blocks of 64", "kv_cache_tokens", "256000", difference},
		{"cap", "max_num_seqs", "64", exact},
		{"500, not 2000 by four models", "finished_total", "500", exact},
		{"backend 3, cancelled 9; not the ensemble's", "failed_total", "12", exact},
		{"cancelled", "aborted_total", "9", exact},
		{"queue full", "rejected_total", "6", exact},
		{"2550 s, from microseconds", "e2e_seconds", "500/2550!", exact},
		{"preprocessing: 15 ms a request", "frontend_seconds", "500/7.5!", estimated},
		{"the server's queue alone", "queue_seconds", "500/2!", estimated},
		{"first chunk of tensorrt_llm, from milliseconds", "ttft_seconds", "500/150", estimated},
		{"35 ms each", "transfer_seconds", "120/4.2!", exact},
		{"from the lengths", "prompt_tokens_total", "240000", exact},
		{"too", "generation_tokens_total", "110000", exact},
		{"in compute_infer with the wait", "prefill_seconds", "-", untold},
		{"no steps", "tpot_seconds", "-", untold},
	})
	if got := waits(e); got != "batcher 6, paused 2, ensemble 0, postprocessing 0, preprocessing 5, tensorrt_llm 2" {
		t.Errorf("waits: %s", got)
	}
	if !e.AtFinish || e.Model != "tensorrt_llm" || e.TTFT.Bounds[1] != .5 {
		t.Errorf("at finish %v, model %q, bounds %v", e.AtFinish, e.Model, e.TTFT.Bounds)
	}
}

func TestTritonSmallPages(t *testing.T) {
	const counters = `# TYPE nv_inference_request_success counter
nv_inference_request_success{model="llama",version="1"} 10
nv_inference_request_success{model="llama",version="2"} 5
nv_inference_request_success{model="postprocessing",version="1"} 15
# TYPE nv_inference_request_duration_us counter
nv_inference_request_duration_us{model="llama",version="1"} 3000000
nv_inference_request_duration_us{model="llama",version="2"} 1000000
nv_inference_request_duration_us{model="postprocessing",version="1"} 15000
# TYPE nv_inference_pending_request_count gauge
nv_inference_pending_request_count{model="llama",version="1"} 4
nv_inference_pending_request_count{model="postprocessing",version="1"} 1
`
	check(t, "the backend's metrics are missing", Decode(parse(counters)), []wanted{
		{"by another name, both versions", "finished_total", "15", exact},
		{"4 s", "e2e_seconds", "15/4!", exact},
		{"all there is", "waiting", "4", exact},
		{"not told", "running", "-", untold},
	})
	check(t, "without reasons", Decode(parse(counters+"# TYPE nv_inference_request_failure counter\nnv_inference_request_failure{model=\"llama\",version=\"1\"} 3\n")), []wanted{
		{"failed", "failed_total", "3", exact},
		{"not told apart", "aborted_total", "-", untold},
	})
	check(t, "no blocks", Decode(parse(`# TYPE nv_trt_llm_kv_cache_block_metrics gauge
nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="used",model="m"} 0
nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="max",model="m"} 0
`)), []wanted{{"0 of 0", "kv_usage_ratio", "-", difference}})
	if e := Decode(parse("# TYPE nv_inference_count counter\nnv_inference_count{model=\"resnet\"} 3\n# TYPE nv_gpu_utilization gauge\nnv_gpu_utilization 1\n")); e != nil {
		t.Errorf("is no engine: %s", say(e))
	}
	if e := Decode(parse(counters + "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{model=\"llama\",version=\"1\"} 2\n")); e.Dialect != "vllm" {
		t.Errorf("Triton's vLLM backend: %s", say(e))
	}
}

func TestTritonSamples(t *testing.T) {
	read := 0
	if e := sample(t, "triton-trtllm-*.prom"); e != nil {
		read++
		check(t, "README", e, []wanted{
			{"scheduled", "running", "1", exact},
			{"waiting 1, pending 0", "waiting", "1", exact},
			{"1 of 6239, not .4875", "kv_usage_ratio", "0.0001602820965", difference},
			{"6239 blocks of 64", "kv_cache_tokens", "399296", difference},
			{"cap", "max_num_seqs", "512", exact},
			{"nothing yet", "e2e_seconds", "0/0!", exact},
		})
	}
	countSamples(t, read, 1)
}
