package engineconfig

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	serving "llmtop/engine"
	"llmtop/probes"
)

// pages is an engine that has these pages and notes what is asked for.
type pages struct {
	body  map[string]string
	asked []string
	down  error
	delay time.Duration
}

func (p *pages) RoundTrip(r *http.Request) (*http.Response, error) {
	p.asked = append(p.asked, r.URL.Path)
	if p.delay > 0 {
		select {
		case <-time.After(p.delay):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	if p.down != nil {
		return nil, p.down
	}
	w := httptest.NewRecorder()
	if body, ok := p.body[r.URL.Path]; ok {
		if status, isStatus := map[string]int{"401": 401, "500": 500}[body]; isStatus {
			w.WriteHeader(status)
		}
		io.WriteString(w, body)
	} else {
		http.NotFound(w, r)
	}
	return w.Result(), nil
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func read(t *testing.T, p *Probe) *probes.EngineConfig {
	t.Helper()
	section, err := p.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return section.(*probes.EngineConfig)
}

// line is a section on one line.
func line(c *probes.EngineConfig) string {
	out := []string{c.Dialect, c.Version}
	for _, f := range c.Facts {
		out = append(out, f.Name+"="+f.Value)
	}
	return strings.Join(out, " ")
}

const (
	vllmModels = `{"object":"list","data":[{"id":"acme/tiny-7b","owned_by":"vllm","root":"/data/secret","max_model_len":8192}]}`
	version1   = `{"version":"0.11.0"}`
)

func TestPages(t *testing.T) {
	cases := []struct {
		name  string
		body  map[string]string
		argv  string
		hint  string
		want  string
		asked string
	}{
		{"vLLM, recognised by its models", map[string]string{"/v1/models": vllmModels, "/version": version1}, "", "",
			"vllm 0.11.0 max_model_len=8192 model=acme/tiny-7b", "/props /v1/models /version"},
		{"vLLM, by its metrics", map[string]string{"/v1/models": vllmModels, "/version": version1}, "", "vllm",
			"vllm 0.11.0 max_model_len=8192 model=acme/tiny-7b", "/version /v1/models"},
		{"vLLM, by its command line", map[string]string{"/v1/models": vllmModels, "/version": version1}, "vllm serve /data/secret --max-num-seqs 4 --config x.yaml", "llamacpp",
			"vllm 0.11.0 max_model_len=8192 max_num_seqs=4 model=acme/tiny-7b", "/version /v1/models"},
		{"SGLang", map[string]string{"/server_info": fixture(t, "sglang-server-info.json"), "/get_server_info": fixture(t, "sglang-server-info.json"), "/get_model_info": `{"model_path":"other"}`}, "", "",
			"sglang 0.5.4 attention_backend=fa3 chunked_prefill_tokens=8192 data_parallel=2 dtype=auto expert_parallel=1 graphs=off kv_cache_dtype=fp8_e5m2 kv_cache_tokens=412345 kv_block_tokens=1 kv_memory_share=0.85 max_model_len=32768 max_num_seqs=96 max_prefill_tokens=16384 model=tiny-7b pipeline_parallel=1 prefix_caching=on role=prefill scheduling_policy=fcfs speculative=eagle tensor_parallel=4",
			"/props /v1/models /version /server_info /get_model_info"},
		{"SGLang, older", map[string]string{"/get_server_info": `{"mem_fraction_static":0.9,"tp_size":2,"version":"0.4.1","max_running_requests":null,"quantization":null,"disaggregation_mode":"null"}`}, "", "sglang",
			"sglang 0.4.1 kv_memory_share=0.9 tensor_parallel=2", "/server_info /get_server_info /get_model_info /v1/models"},
		{"llama.cpp", map[string]string{"/props": fixture(t, "llamacpp-props.json"), "/v1/models": `{"data":[{"id":"x","owned_by":"llamacpp"}]}`}, "llama-server -c 16384 -np 4", "",
			"llamacpp b7492-0a1b2c3d kv_cache_tokens=16384 max_model_len=4096 max_num_seqs=4 model=tiny.Q4_K_M.gguf", "/props /v1/models"},
		{"llama.cpp, asleep", map[string]string{"/props": `{"build_info":"b7500-0a1b2c3d","total_slots":2,"is_sleeping":true}`, "/v1/models": `{"data":[{"id":"x"}]}`}, "", "",
			"llamacpp b7500-0a1b2c3d max_num_seqs=2", "/props"},
		{"TGI", map[string]string{"/info": fixture(t, "tgi-info.json"), "/v1/models": `{"data":[{"id":"acme/tiny-7b"}]}`}, "", "",
			"tgi 3.3.5 dtype=float16 kv_cache_tokens=60000 max_model_len=4096 max_num_seqs=64 max_prefill_tokens=4096 model=acme/tiny-7b queue_limit=128 tokenizer_workers=2",
			"/props /v1/models /version /server_info /get_server_info /info"},
		{"LMDeploy", map[string]string{"/v1/models": `{"data":[{"id":"tiny","owned_by":"lmdeploy"}]}`}, "", "", "lmdeploy  model=tiny", "/props /v1/models"},
		{"TRT-LLM", map[string]string{"/version": `{"version":"1.2.0rc1"}`, "/v1/models": `{"data":[{"id":"tiny"}]}`}, "trtllm-serve tiny --max_batch_size 8", "",
			"trtllm 1.2.0rc1 max_num_seqs=8 model=tiny", "/version /v1/models"},
		{"a wrapper of its own", map[string]string{"/version": version1}, "python3 serve.py --max-num-seqs 4", "vllm", "vllm 0.11.0", "/version /v1/models"},
		{"nobody knows it", map[string]string{"/version": `{"version":"9"}`, "/v1/models": `{"data":[{"id":"m","owned_by":"someone"}]}`}, "", "",
			" 9 model=m", "/props /v1/models /version /server_info /get_server_info /info"},
		{"a front page for everything", map[string]string{"/props": "<html>", "/v1/models": "<html>", "/version": version1, "/server_info": "[1]", "/get_server_info": `"x"`, "/info": "null"}, "", "",
			" 0.11.0", "/props /v1/models /version /server_info /get_server_info /info"},
		{"wrong types", map[string]string{"/props": `{"build_info":["b1"],"total_slots":"4","model_path":{"a":1},"default_generation_settings":7}`}, "", "",
			"llamacpp  max_num_seqs=4", "/props /v1/models"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			served := &pages{body: c.body}
			p := New("http://gpu-7:8000", Options{Transport: served, Access: secret(t),
				PID: func() int { return 77 }, Dialect: func() string { return c.hint },
				Argv: func(pid int) ([]string, error) {
					if c.argv == "" || pid != 77 {
						return nil, errors.New("permission denied")
					}
					return strings.Fields(c.argv), nil
				},
				Ranks: func(pid int) []probes.Rank { return []probes.Rank{{Name: "tp0", PID: pid + 1}} },
			})
			got := read(t, p)
			if line(got) != sortedLine(c.want) || strings.Join(served.asked, " ") != c.asked {
				t.Errorf("got  %s\nwant %s\nasked %s\n want %s", line(got), sortedLine(c.want), strings.Join(served.asked, " "), c.asked)
			}
			if got.PID != 77 || got.Endpoint != "http://gpu-7:8000" || len(got.Ranks) != 1 || got.Ranks[0].PID != 78 {
				t.Errorf("%+v", got)
			}
			sane(t, got.Facts)
			b, _ := json.Marshal(got)
			for _, secret := range []string{"geheim", "secret", "PLANTED"} {
				if strings.Contains(string(b), secret) {
					t.Errorf("%q is told: %s", secret, b)
				}
			}
		})
	}
}

// sortedLine brings facts as they were written in a test into the order of a section.
func sortedLine(s string) string {
	head, facts := strings.SplitN(s, " ", 3)[:2], strings.Fields(strings.SplitN(s+"  ", " ", 3)[2])
	r := reading{facts: map[string]probes.Fact{}}
	for _, f := range facts {
		name, value, _ := strings.Cut(f, "=")
		r.add(name, value, "x")
	}
	return strings.Join([]string{line(&probes.EngineConfig{Dialect: head[0], Version: head[1], Facts: r.sorted()})}, " ")
}

// TestOwnEngine asks our own engine over its handler.
func TestOwnEngine(t *testing.T) {
	e, err := serving.New(serving.Config{Threads: 1, APIKey: "geheim"})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(e.Handler())
	defer s.Close()
	c := read(t, New(s.URL, Options{Access: secret(t)}))
	if c.Dialect != "vllm" || !strings.HasPrefix(c.Version, "llmtop ") || c.Fact("model") != "oncall" || c.Fact("max_model_len") == "" {
		t.Errorf("%+v", c)
	}
	if keyless := read(t, New(s.URL, Options{})); keyless.Version != c.Version || len(keyless.Facts) != 0 {
		t.Errorf("without the key: %+v", keyless)
	}
}

// TestReadsOnceAMinute: reads in between give the same section; a restart is asked about
// at once, a page that is not there after ten minutes, an engine that is down every 5 s.
func TestReadsOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := &pages{body: map[string]string{"/version": version1}}
		pid, restarts := 7, int64(0)
		p := New("http://gpu-7:8000", Options{Transport: served, Dialect: func() string { return "vllm" },
			PID: func() int { return pid }, Restarts: func() int64 { return restarts }})
		seconds := func(n int) {
			for range n {
				<-time.After(time.Second)
				p.Read(context.Background())
			}
		}
		first := read(t, p)
		seconds(59)
		if len(served.asked) != 2 || read(t, p) != first {
			t.Errorf("asked %v within a minute", served.asked)
		}
		seconds(541)
		if got := strings.Count(strings.Join(served.asked, " "), "/v1/models"); got != 2 || strings.Count(strings.Join(served.asked, " "), "/version") != 11 {
			t.Errorf("asked %v within ten minutes", served.asked)
		}
		served.asked, served.body["/version"] = nil, `{"version":"0.12.1"}`
		pid = 8
		if c := read(t, p); c.Version != "0.12.1" || c.PID != 8 || strings.Join(served.asked, " ") != "/version /v1/models" {
			t.Errorf("after a restart: %+v, asked %v", c, served.asked)
		}
		served.asked, restarts = nil, 1
		if read(t, p); len(served.asked) != 2 {
			t.Errorf("after one that others saw: asked %v", served.asked)
		}
		pid = 0 // not found for a moment
		served.asked = nil
		if read(t, p); len(served.asked) != 0 {
			t.Errorf("with the process out of sight: asked %v", served.asked)
		}
		before := read(t, p)
		served.down = errors.New("broken pipe")
		seconds(60)
		served.asked = nil
		seconds(10)
		if section, err := p.Read(context.Background()); section != before || err == nil || !strings.Contains(err.Error(), "broken pipe") {
			t.Errorf("while it is down: %v, %v", section, err)
		}
		if n := len(served.asked); n != 2 {
			t.Errorf("asked %d times in 10 s while it is down: %v", n, served.asked)
		}
	})
}

// TestSilentEngine: one page that does not answer ends the round, within its timeout.
func TestSilentEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := &pages{delay: time.Hour}
		p := New("http://gpu-7:8000", Options{Transport: served})
		began := time.Now()
		section, err := p.Read(context.Background())
		if section != nil || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 2*time.Second || len(served.asked) != 1 {
			t.Errorf("%v, %v after %s, asked %v", section, err, time.Since(began), served.asked)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		<-time.After(retry)
		if section, err := p.Read(ctx); section != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", section, err)
		}
	})
}

func TestNothingIsTold(t *testing.T) {
	if section, err := New("http://gpu-7:8000", Options{Transport: &pages{}}).Read(context.Background()); section != nil || err != errSilent || !probes.IsLacking(err) {
		t.Errorf("%v, %v", section, err)
	}
	if section, err := New("ftp://x", Options{}).Read(context.Background()); section != nil || err == nil {
		t.Errorf("%v, %v", section, err)
	}
	broken := &pages{body: map[string]string{"/version": "500", "/v1/models": vllmModels}}
	if c := read(t, New("http://gpu-7:8000", Options{Transport: broken})); c.Fact("model") != "acme/tiny-7b" || c.Version != "" {
		t.Errorf("one page fails: %+v", c)
	}
	locked := &pages{body: map[string]string{"/v1/models": "401"}}
	section, err := New("http://gpu-7:8000", Options{Transport: locked}).Read(context.Background())
	if section != nil || err == nil || !strings.Contains(err.Error(), "the server wants credentials") {
		t.Errorf("nothing without a key: %v, %v", section, err)
	}
}

func TestDecodeIsBounded(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	if _, err := decode([]byte(deep)); err != errDepth {
		t.Errorf("40 deep: %v", err)
	}
	if _, err := decode([]byte(`{"a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"[["}`)); err != nil {
		t.Errorf("brackets in a text: %v", err)
	}
	large := &pages{body: map[string]string{"/props": `{"build_info":"b1","x":"` + strings.Repeat("x", maxBytes) + `"}`}}
	if section, err := New("http://gpu-7:8000", Options{Transport: large}).Read(context.Background()); section != nil || err == nil || !strings.Contains(err.Error(), "not read") {
		t.Errorf("a page beyond 1 MiB: %v, %v", section, err)
	}
}

// FuzzPages: whatever a page holds, facts are canonical, short and printable.
func FuzzPages(f *testing.F) {
	for _, name := range []string{"sglang-server-info.json", "llamacpp-props.json", "tgi-info.json"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(vllmModels))
	f.Fuzz(func(t *testing.T, body []byte) {
		v, err := decode(body)
		if err != nil {
			return
		}
		for _, path := range []string{"/props", "/v1/models", "/version", "/server_info", "/info"} {
			for _, e := range append([]*engine{nil}, engines...) {
				r := reading{engine: e, facts: map[string]probes.Fact{}}
				r.page(path, v)
				sane(t, r.sorted())
				if probes.Printable(r.version, 100) != r.version {
					t.Errorf("version %q", r.version)
				}
			}
		}
	})
}

func TestNormal(t *testing.T) {
	for _, c := range []struct {
		kind kind
		in   string
		want string
	}{
		{number, "256", "256"}, {number, "-1", ""}, {number, "0", ""}, {limit, "0", "0"}, {number, "1.5M", "1572864"}, {number, "1.5m", "1500000"}, {number, "2.5", ""}, {number, "1e9", ""}, {number, strings.Repeat("9", 40), ""},
		{share, "0.9", "0.9"}, {share, "1.5", ""}, {share, "NaN", ""}, {word, "torch.bfloat16", "bfloat16"}, {word, "a b", ""}, {word, "None", ""},
		{modelName, "acme/x", "acme/x"}, {modelName, "/a/b/c", "c"}, {modelName, "./m.gguf", "m.gguf"}, {modelName, `C:\models\x.gguf`, "x.gguf"}, {modelName, "https://user:pw@host/x", "x"},
		{modelName, "a\x1b[31m", ""}, {on, "True", "on"}, {off, "true", "off"}, {on, "maybe", ""}, {switched, "AUTO", "auto"}, {given, "x", "on"}, {method, "{", "on"}, {role, "{}", ""},
		{version, "b7492-0a1b", "b7492-0a1b"}, {version, "1\n2", ""}, {kind(99), "x", ""},
	} {
		got, ok := normal(c.kind, c.in)
		if !ok {
			got = ""
		}
		if got != c.want {
			t.Errorf("%d %q: got %q, want %q", c.kind, c.in, got, c.want)
		}
	}
}

// secret are credentials that must not be seen anywhere.
func secret(t *testing.T) probes.Access {
	t.Helper()
	auth, err := probes.BearerAuth("geheim")
	if err != nil {
		t.Fatal(err)
	}
	return probes.Access{Auth: auth}
}
