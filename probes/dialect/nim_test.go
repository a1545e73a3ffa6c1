package dialect

import "testing"

func TestNIM(t *testing.T) {
	e := checkPage(t, "nim-1.3", "nim", []wanted{
		{"in the batch", "running", "14", exact},
		{"queue", "waiting", "5", exact},
		{"its own name for the cap", "max_num_seqs", "64", exact},
		{"a ratio for all its name", "kv_usage_ratio", "0.4375", exact},
		{"stop and length, as the container counts them", "finished_total", "114", exact},
		{"the others", "failed_total", "6", exact},
		{"those by reason", "aborted_total", "6", exact},
		{"first tokens", "ttft_seconds", "120/12", exact},
		{"observed a step, so not a request's mean", "tpot_seconds", "23880/477.6", estimated},
		{"a step", "step_seconds", "23880/477.6", exact},
		{"no time in the queue", "queue_seconds", "-", untold},
		{"no preemptions", "preemptions_total", "-", untold},
		{"no capacity", "kv_cache_tokens", "-", untold},
	})
	if e.Model != "acme/llama-8b-instruct" || e.AtFinish {
		t.Errorf("model %q, at finish %v", e.Model, e.AtFinish)
	}
}

// Names without a prefix prove nothing one by one.
func TestNIMIsProvedByAll(t *testing.T) {
	const running, waiting, most = "num_requests_running 1\n", "num_requests_waiting 2\n", "num_request_max 8\n"
	for page, want := range map[string]string{
		running + waiting + most: "nim", running + waiting: "", running + most: "", waiting + most: "",
		running + waiting + most + "vllm:num_requests_running 3\n": "vllm",
	} {
		got := ""
		if e := Decode(parse(page)); e != nil {
			got = e.Dialect
		}
		if got != want {
			t.Errorf("%q is %q, want %q", page, got, want)
		}
	}
	check(t, "by reason alone", Decode(parse(running+waiting+most+"# TYPE request_finish_total counter\nrequest_finish_total{finished_reason=\"stop\"} 3\nrequest_finish_total{finished_reason=\"error\"} 2\n")), []wanted{
		{"stop", "finished_total", "3", exact},
		{"error", "failed_total", "2", exact},
		{"none told", "aborted_total", "-", untold},
	})
}
