package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/probes/dialect"
	"llmtop/probes/scrape"
)

// withoutNames is what an engine says, its names aside: of the model and of the parts, and
// of deployments, which are waiting queues.
func withoutNames(t *testing.T, e *probes.Engine) string {
	t.Helper()
	if e == nil {
		return "no dialect"
	}
	bare := *e
	bare.Model, bare.Instance, bare.Only, bare.Parts = "", "", "", nil
	bare.Waits = nil
	for _, w := range e.Waits {
		if e.Dialect == "vllm" && w.Name != "capacity" && w.Name != "deferred" {
			w.Name = "" // a deployment or a class
		}
		bare.Waits = append(bare.Waits, w)
	}
	b, err := json.Marshal(bare)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRedactedPagesSayTheSame: a redacted recording is shared so that somebody else finds the
// cause. What each engine's page says, all of its readings and those of the engines behind
// it, has to come through.
func TestRedactedPagesSayTheSame(t *testing.T) {
	pages, _ := filepath.Glob("../../testdata/expositions/*.prom")
	if len(pages) < 20 {
		t.Fatalf("%d pages", len(pages))
	}
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := scrape.Parse(page)
		s.At, s.Endpoint = time.Unix(1796000000, 0).UTC(), "http://127.0.0.1:8000"
		for _, drop := range []bool{false, true} {
			x := newRedactor(RedactOptions{Drop: drop})
			copied := *s
			copied.Schema = &probes.Schema{Series: make([]probes.Series, len(s.Schema.Series))}
			for i := range s.Schema.Series {
				copied.Schema.Series[i] = x.series(s.Schema.Series[i])
			}
			want, got := dialect.Decode(s), dialect.Decode(&copied)
			if w, g := withoutNames(t, want), withoutNames(t, got); w != g {
				t.Errorf("%s, drop %v:\n got %s\nwant %s", filepath.Base(path), drop, g, w)
				continue
			}
			if want == nil {
				continue
			}
			if len(want.Parts) != len(got.Parts) {
				t.Errorf("%s, drop %v: %d parts, want %d", filepath.Base(path), drop, len(got.Parts), len(want.Parts))
				continue
			}
			parts := map[string]int{}
			for i := range want.Parts {
				parts[withoutNames(t, want.Parts[i])]++
				parts[withoutNames(t, got.Parts[i])]--
			}
			for part, n := range parts {
				if n != 0 {
					t.Errorf("%s, drop %v: %+d parts %s", filepath.Base(path), drop, n, part)
				}
			}
		}
	}
}

// Words that a dialect knows are harmless where it knows them, and nowhere else.
func TestKnownWordsStayInTheirPlace(t *testing.T) {
	x := newRedactor(RedactOptions{})
	for _, c := range []struct {
		label, value string
		stays        bool
	}{
		{"kv_cache_block_type", "used", true}, {"deployment", "used", false}, {"model", "tensorrt_llm", true}, {"model", "acme-7b", false},
		{"worker_addr", "http://10.0.0.1:30000", false}, {"engine", "east-coast", false}, {"engine", "3", true}, {"priority", "vip-acme", false},
		{"finished_reason", "ResponseType.FINISH", true}, {"finished_reason", "said no to acme", false}, {"phase", "decode", false},
	} {
		got := x.series(probes.Series{Family: "vllm:x", Name: "vllm:x", Labels: []probes.Label{{Name: c.label, Value: c.value}}}).Labels[0].Value
		if (got == c.value) != c.stays || !c.stays && strings.Contains(got, c.value) {
			t.Errorf("%s=%q became %q", c.label, c.value, got)
		}
	}
}

// Engines of one model serve the same requests, those of two do not.
func TestModelsStayApart(t *testing.T) {
	for _, drop := range []bool{false, true} {
		x := newRedactor(RedactOptions{Drop: drop})
		name := func(label, model string) string {
			return x.series(probes.Series{Family: "vllm:x", Name: "vllm:x", Labels: []probes.Label{{Name: label, Value: model}}}).Labels[0].Value
		}
		if a := name("model_name", "Acme/Llama"); a != name("model", "acme/llama") || a == name("model_name", "Acme/Qwen") || strings.Contains(strings.ToLower(a), "acme") {
			t.Errorf("drop %v: %q, %q, %q", drop, a, name("model", "acme/llama"), name("model_name", "Acme/Qwen"))
		}
	}
}

// TestRedactedSlotsSayTheSame: the slots of llama.cpp, which no page has but the scrape adds.
func TestRedactedSlotsSayTheSame(t *testing.T) {
	s := scrape.Parse([]byte(`# TYPE llamacpp:slot_count gauge
llamacpp:slot_count 2
# TYPE llamacpp:slot_n_ctx gauge
llamacpp:slot_n_ctx{slot="0"} 4096
llamacpp:slot_n_ctx{slot="1"} 4096
# TYPE llamacpp:slot_n_tokens gauge
llamacpp:slot_n_tokens{slot="0"} 1024
llamacpp:slot_n_tokens{slot="1"} 512
`))
	for _, drop := range []bool{false, true} {
		x := newRedactor(RedactOptions{Drop: drop})
		copied := *s
		copied.Schema = &probes.Schema{}
		for _, series := range s.Schema.Series {
			copied.Schema.Series = append(copied.Schema.Series, x.series(series))
		}
		if e := dialect.Decode(&copied); e == nil || e.KVUsage.Or(0) != 0.1875 || e.KVTokens.Or(0) != 8192 || e.MaxRunning.Or(0) != 2 {
			t.Errorf("drop %v: got %+v", drop, e)
		}
	}
}
