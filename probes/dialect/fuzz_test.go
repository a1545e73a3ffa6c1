package dialect

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"llmtop/probes"
	"llmtop/probes/scrape"
)

// FuzzDecode holds that whatever a page says, decoding it ends, gives no number that is
// none, says of each reading how it was obtained, and gives it again.
func FuzzDecode(f *testing.F) {
	pages, _ := filepath.Glob(filepath.Join(expositions, "*.prom"))
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(page)
	}
	for _, page := range []string{
		"vllm:num_requests_running{engine=\"0\"} 1e308\nvllm:num_requests_running{engine=\"1\"} 1e308\n",
		"# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{num_gpu_blocks=\"1e300\",block_size=\"1e300\"} 1\n",
		"# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{kv_cache_size_tokens=\"Inf\"} 1\n",
		"sglang:num_running_reqs{tp_rank=\"NaN\"} 1\nsglang:num_running_reqs{tp_rank=\"-9223372036854775808\"} 2\nsglang:num_running_reqs{tp_rank=\"9223372036854775807\",dp_rank=\"1\"} 2\n",
		"# TYPE tgi_request_duration histogram\ntgi_request_duration_bucket{le=\"-Inf\"} 1\ntgi_request_duration_bucket{le=\"NaN\"} 1\ntgi_request_duration_sum 1e308\ntgi_request_duration_count -1\n",
		"dynamo_frontend_inflight_requests -1\ndynamo_frontend_queued_requests 1e308\n",
	} {
		f.Add([]byte(page))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		s := scrape.Parse(page)
		e := Decode(s)
		if e == nil {
			return
		}
		checkEngine(t, e)
		if len(e.Parts) > MaxInstances || len(e.Parts) == 1 {
			t.Errorf("%d parts", len(e.Parts))
		}
		for i, p := range e.Parts {
			checkEngine(t, p)
			if p.Instance == "" || len(p.Parts) > 0 || i > 0 && p.Instance == e.Parts[i-1].Instance {
				t.Errorf("part %d: %q", i, p.Instance)
			}
		}
		if got, want := say(Decode(s)), say(e); got != want {
			t.Errorf("got\n%s\nthe second time, want\n%s", got, want)
		}
	})
}

func checkEngine(t *testing.T, e *probes.Engine) {
	t.Helper()
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	for _, r := range probes.EngineReadings {
		told := false
		if r.Number != nil {
			v, ok := r.Number(e).Get()
			if told = ok; ok && !finite(v) {
				t.Errorf("%s is %v", r.Name, v)
			}
		} else if h := *r.Histogram(e); h != nil {
			told = true
			if !finite(h.Count) || !finite(h.Sum) || !slices.IsSorted(h.Bounds) || len(h.Bounds) != len(h.Cumulative) {
				t.Errorf("%s: %+v", r.Name, h)
			}
			for i := range h.Bounds {
				if !finite(h.Bounds[i]) || !finite(h.Cumulative[i]) {
					t.Errorf("%s: %+v", r.Name, h)
				}
			}
		}
		if told && e.Origin(r.Name) == probes.NotTold {
			t.Errorf("%s: nobody told it", r.Name)
		}
	}
	if len(e.Waits) > maxWaits*8 {
		t.Errorf("%d waits", len(e.Waits))
	}
	for _, w := range e.Waits {
		if w.Name == "" || !finite(w.Depth) {
			t.Errorf("%+v", w)
		}
	}
}
