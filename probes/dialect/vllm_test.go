package dialect

import (
	"math"
	"strings"
	"testing"
)

func TestVLLM(t *testing.T) {
	e := checkPage(t, "vllm-0.7", "vllm", []wanted{
		{"parked sequences wait too: 3 and 2", "waiting", "5", exact},
		{"old name of the KV usage", "kv_usage_ratio", "0.8125", exact},
		{"4096 blocks of 16", "kv_cache_tokens", "65536", estimated},
		{"-1 says that there is no prefix cache", "prefix_hit_ratio", "-", estimated},
		{"and nothing counts lookups", "prefix_queries_total", "-", untold},
		{"the engine's own throughput is a gauge over its own span", "tokens_per_second", "239.6", estimated},
		{"of two names of one family the newer", "queue_seconds", "120/15", exact},
		{"a histogram that is called total", "step_tokens", "8192/89760", exact},
		{"no drafts: a step is a token", "tpot_seconds", "24360/609", estimated},
		{"arrival is at the engine: nothing lies before the queue", "frontend_seconds", "-", untold},
		{"stop and length", "finished_total", "120", exact},
		{"no abort was counted yet: absent is not 0", "failed_total", "-", untold},
		{"start of the process", "start_unix_seconds", "1790000012", exact},
	})
	if got := waits(e); got != "swapped 2" {
		t.Errorf("waits: %s", got)
	}
	e = checkPage(t, "vllm-0.8", "vllm", []wanted{
		{"blocks in this release, so an estimate", "prefix_queries_total", "5120", estimated},
		{"a quarter of them", "prefix_hits_total", "1280", estimated},
		{"e2e 1098.8 without queue 8.2 and inference 1057.8", "frontend_seconds", "164/32.8!", difference},
		{"aborts are failures", "failed_total", "4", exact},
		{"and told apart", "aborted_total", "4", exact},
		{"8192 blocks of 16", "kv_cache_tokens", "131072", estimated},
	})
	if e.Parts != nil || e.Model != "acme/llama-70b" {
		t.Errorf("without the label engine: %d parts, model %q", len(e.Parts), e.Model)
	}
}

// Speculative decoding, from several API servers: gauges leak the pid, nothing tells of the process.
func TestVLLMSpeculative(t *testing.T) {
	e := checkPage(t, "vllm-0.10", "vllm", []wanted{
		{"the highest copy under the newer name", "kv_usage_ratio", "0.6875", exact},
		{"one of two names of a counter", "prefix_queries_total", "200000", estimated},
		{"steps of 2430 s yielded 90000 tokens", "tpot_seconds", "90000/2430!", difference},
		{"a step", "step_seconds", "40400/2430", exact},
		{"2580 without 12 and 2528", "frontend_seconds", "400/40!", difference},
		{"accepted, positions not added again", "spec_accepted_tokens_total", "49600", exact},
		{"not told when the process began", "start_unix_seconds", "-", untold},
		{"no abort, and that is told", "aborted_total", "0", exact},
	})
	if token, step := e.TPOT.Mean().Or(0), e.StepTime.Mean().Or(0); math.Abs(token-0.027) > 1e-9 || math.Abs(step-0.0601485) > 1e-6 {
		t.Errorf("a token takes %v, a step %v", token, step)
	}
}

func TestVLLMCurrent(t *testing.T) {
	e := checkPage(t, "vllm-0.30", "vllm", []wanted{
		{"a hybrid model: the label, not 12288 blocks of 32", "kv_cache_tokens", "200000", exact},
		{"9.6 million lookups of 400000 tokens are not believed", "prefix_queries_total", "400000", difference},
		{"nor 7.2 million hits", "prefix_hits_total", "50000", exact},
		{"computed here", "prompt_computed_tokens_total", "250000", exact},
		{"found here", "prompt_cached_tokens_total", "50000", exact},
		{"fetched", "prompt_received_tokens_total", "100000", exact},
		{"stop 70, length 20, repetition 1; corrupted ones are among them", "finished_total", "91", exact},
		{"abort 6, error 2; 40 answers with 4xx are no failures of the engine", "failed_total", "8", exact},
		{"of both reasons", "rejected_total", "4", exact},
		{"per request, not per step", "tpot_seconds", "99/3.168", exact},
		{"per step", "step_seconds", "9901/792.08", exact},
		{"a transfer took 35 ms", "transfer_seconds", "50/1.75", exact},
		{"not doubled by its reasons", "waiting", "7", exact},
	})
	if got := waits(e); got != "capacity 4, deferred 3" {
		t.Errorf("waits: %s", got)
	}
}

// The sum of what is taken off may pass what it is taken from by a wrong clock.
func TestVLLMNegativeFrontend(t *testing.T) {
	page := `# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total 1
`
	for _, family := range []string{"e2e_request_latency", "request_queue_time", "request_inference_time"} {
		page += strings.ReplaceAll("# TYPE vllm:X_seconds histogram\nvllm:X_seconds_bucket{le=\"+Inf\"} 2\nvllm:X_seconds_count 2\nvllm:X_seconds_sum 3\n", "X", family)
	}
	check(t, "wrong clock", Decode(parse(page)), []wanted{{"3 - 3 - 3", "frontend_seconds", "-", difference}})
	page = strings.Replace(page, "vllm:request_queue_time_seconds_sum 3\n", "", 1)
	check(t, "a part is missing", Decode(parse(page)), []wanted{{"needs all of them", "frontend_seconds", "-", untold}})
}

func TestSimulator(t *testing.T) {
	checkPage(t, "llmd-sim-0.6", "vllm", []wanted{
		{"without the queue, so not what clients see", "ttft_seconds", "64/10.24", estimated},
		{"only those that waited", "queue_seconds", "56/350", exact},
		{"finish_reason", "finished_total", "60", exact},
		{"blocks times their size", "kv_cache_tokens", "4096", estimated},
		{"rejected requests leave no trace", "rejected_total", "-", untold},
	})
}

func TestOwnEngine(t *testing.T) {
	e := checkPage(t, "llmtop-engine", "vllm", []wanted{
		{"receive .0155, auth .0005, parse .03, assemble .004, tokenize .2", "frontend_seconds", "100/0.25!", exact},
		{"told as a label", "kv_cache_tokens", "4096", exact},
		{"limit of the batch", "max_num_seqs", "8", exact},
		{"by source, since both are told", "prefix_queries_total", "6000", difference},
		{"refused", "rejected_total", "9", exact},
		{"stop and length", "finished_total", "100", exact},
	})
	if got := waits(e); got != "capacity 5, deferred 0, background 3, normal 2, realtime 0" {
		t.Errorf("waits: %s", got)
	}
}

// Replicas of one node have an engine "0" each; counters stand there as gauges too.
func TestRayServe(t *testing.T) {
	e := checkPage(t, "ray-serve-2.49", "vllm", []wanted{
		{"8 and 3", "running", "11", exact},
		{"once, not twice", "generation_tokens_total", "32000", exact},
		{"stop 90 and 55", "finished_total", "145", exact},
		{"abort 10 and 5", "failed_total", "15", exact},
		{"Serve's queue is before the engines'", "waiting", "2", exact},
		{"both replicas", "ttft_seconds", "160/34", exact},
	})
	if got := waits(e); got != "LLMServer:llama-70b 6, OpenAiIngress 1" {
		t.Errorf("waits: %s", got)
	}
	if len(e.Parts) != 2 || e.Parts[0].Instance != "r1" || e.Parts[1].Instance != "r2" || e.Parts[1].Running.Or(0) != 3 || e.Parts[0].GenerationTokens.Or(0) != 20000 {
		t.Errorf("parts: %s", asJSON(t, e))
	}
	// Ray 2.52 has the gauges alone, outside Serve there is no replica.
	e = Decode(parse(`# TYPE ray_vllm_generation_tokens gauge
ray_vllm_generation_tokens{ReplicaId="",WorkerId="w1",engine="0",model_name="m"} 5
ray_vllm_generation_tokens{ReplicaId="",WorkerId="w2",engine="0",model_name="m"} 6
`))
	check(t, "Ray 2.52", e, []wanted{{"typed gauge", "generation_tokens_total", "11", exact}})
	if len(e.Parts) != 2 || e.Parts[1].Instance != "w2" {
		t.Errorf("parts: %s", asJSON(t, e))
	}
}

// Labels of what stands around an engine name no engine; each engine has its own model.
func TestStrangeLabels(t *testing.T) {
	e := Decode(parse(`# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 5
# TYPE serve_x gauge
serve_x{engine="9",WorkerId="w"} 1
`))
	if e.Parts != nil || e.Model != "m" {
		t.Errorf("got %s", asJSON(t, e))
	}
	e = Decode(parse(`vllm:num_requests_running{engine="0",model_name="a"} 5
vllm:num_requests_running{engine="1",model_name="b"} 5
`))
	if e.Model != "a +1" || len(e.Parts) != 2 || e.Parts[1].Model != "b" {
		t.Errorf("got %s", asJSON(t, e))
	}
}

func TestVLLMSamples(t *testing.T) {
	read := 0
	if e := sample(t, "vllm-2026-09-*.prom"); e != nil {
		read++
		check(t, "MTP", e, []wanted{
			{"17807 steps", "step_seconds", "17807/1419.854786", exact},
			{"mean of 26 requests: 25.6 ms", "tpot_seconds", "26/0.6654860104", exact},
			{"the label, not 15998 blocks of 4", "kv_cache_tokens", "1428520", exact},
			{"start, not _created", "start_unix_seconds", "1788859833", exact},
			{"1837.748 - 0.007 - 1826.705", "frontend_seconds", "26/11.03553491!", difference},
		})
		step, token := e.StepTime.Mean().Or(0), e.StepTime.Sum/e.GenerationTokens.Or(math.NaN())
		if math.Abs(step-0.0797) > 5e-5 || math.Abs(token-0.0316) > 5e-5 {
			t.Errorf("a step takes %v, a token %v", step, token)
		}
		if perRequest := (e.Frontend.Sum) / e.Frontend.Count; math.Abs(perRequest-0.4245) > 1e-3 {
			t.Errorf("frontend %v a request", perRequest)
		}
	}
	for page, cases := range map[string][]wanted{
		"llmd-sim-loaded.prom": {
			{"12 of length", "finished_total", "12", exact},
			{"without the queue", "ttft_seconds", "15/1.815", estimated},
			{"128 blocks of 16", "kv_cache_tokens", "2048", estimated},
			{"nobody waited: not observed", "queue_seconds", "-", untold},
		},
		"llmd-sim-idle.prom": {
			{"nothing yet", "ttft_seconds", "-", untold},
			{"idle", "running", "0", exact},
		},
	} {
		if e := sample(t, page); e != nil {
			read++
			check(t, page, e, cases)
		}
	}
	countSamples(t, read, 3)
}

// countSamples says how many sample pages were read, and skips when there is none.
func countSamples(t *testing.T, read, of int) {
	t.Helper()
	if read == 0 {
		t.Skip("no sample pages beside the project (LLMTOP_SAMPLES)")
	}
	t.Logf("%d of %d sample pages read", read, of)
}
