package inject

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// answers is an engine that answers at some paths with what of returns.
func answers(t *testing.T, of map[string]func() string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	for path, text := range of {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text()) })
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// saying is a stand-in that keeps the control lines it is told.
func saying(t *testing.T) (s *Site, said func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "said")
	s = standIn(t, "#!/bin/sh\nexec cat > "+file+"\n")
	return s, func() string {
		s.Engine.Stop()
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

// TestSlower is confirmed by requests that arrived during the fault alone.
func TestSlower(t *testing.T) {
	for _, c := range []struct {
		inject, line, off string
		with              map[string]string
		request           string // the stages of those during the fault
		confirmed         bool
	}{
		{"tokenizer", "tokenizer 80ms", "tokenizer 0s", map[string]string{"each": "80ms"}, `"stages":{"tokenize":0.081}`, true},
		{"tokenizer", "tokenizer 80ms", "tokenizer 0s", map[string]string{"each": "80ms"}, `"stages":{"tokenize":0.02,"queue":5}`, false},
		{"detokenizer", "detokenizer 4ms", "detokenizer 0s", map[string]string{"each": "4ms"}, `"output_tokens":10,"detokenize_busy_seconds":0.04`, true},
		{"detokenizer", "detokenizer 4ms", "detokenizer 0s", map[string]string{"each": "4ms"}, `"output_tokens":100,"detokenize_busy_seconds":0.04`, false},
		{"lock", "lock 0.8 500ms", "lock 0 500ms", map[string]string{"share": "0.8", "every": "500ms"}, `"stages":{"queue":0.16}`, true},
		{"lock", "lock 0.8 500ms", "lock 0 500ms", map[string]string{"share": "0.8", "every": "500ms"}, `"stages":{"queue":0.07}`, false},
	} {
		var now atomic.Pointer[string]
		requests := func(during string) {
			text := `{"finished":[{"arrived":"2001-01-01T00:00:00Z","stages":{"tokenize":0.001,"queue":0.001}}` + during + `]}`
			now.Store(&text)
		}
		requests("")
		s, said := saying(t)
		s.URL = answers(t, map[string]func() string{"/debug/requests": func() string { return *now.Load() }}).URL
		i, err := New(c.inject, c.with)
		if err != nil {
			t.Fatal(err)
		}
		if i.Confirm() == nil {
			t.Error("confirmed before it began")
		}
		if err := i.Start(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		requests(`,{"arrived":"` + time.Now().UTC().Add(time.Hour).Format(time.RFC3339) + `",` + c.request + `}`)
		for range 2 {
			if err := i.Stop(); err != nil {
				t.Fatal(err)
			}
		}
		if err := i.Confirm(); (err == nil) != c.confirmed {
			t.Errorf("%s with %s: %v", c.inject, c.request, err)
		}
		if got := said(); got != c.line+"\n"+c.off+"\n" {
			t.Errorf("%s said %q", c.inject, got)
		}
		if err := i.Stop(); err != nil { // the engine has ended
			t.Error(err)
		}
	}
}

func TestFrozen(t *testing.T) {
	for _, c := range []struct {
		during, after string // tokens made
		running       int
		want          string
	}{
		{"100", "100", 3, ""},
		{"100", "101", 3, "made 1 tokens"},
		{"100", "100", 0, "no request was there"},
	} {
		made := atomic.Pointer[string]{}
		made.Store(&c.during)
		asked := make(chan struct{}, 8)
		s := &Site{URL: answers(t, map[string]func() string{"/metrics": func() string {
			defer func() { asked <- struct{}{} }()
			return fmt.Sprintf("# HELP x\nvllm:generation_tokens_total{model_name=\"a\"} %s\nvllm:generation_tokens_total_x 7\nvllm:num_requests_running{} %d\n", *made.Load(), c.running)
		}}).URL}
		f := &frozen{wait: time.Millisecond}
		if err := f.begin(s); err != nil {
			t.Fatal(err)
		}
		<-asked
		made.Store(&c.after)
		until(t, "the first reading", f.read.Load)
		if err := f.end(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	f := &frozen{wait: time.Hour}
	if err := f.begin(&Site{URL: answers(t, map[string]func() string{"/metrics": func() string { return "" }}).URL}); err != nil {
		t.Fatal(err)
	}
	if err := f.end(); err == nil || !strings.Contains(err.Error(), "less than 1h") {
		t.Errorf("%v, want that it was too short", err)
	}
}

func TestCollecting(t *testing.T) {
	for _, c := range []struct {
		after     string
		confirmed bool
	}{{"0.5", true}, {"0.001", false}} {
		share := "0.001"
		s := &Site{URL: answers(t, map[string]func() string{
			"/metrics": func() string {
				return fmt.Sprintf("process_start_time_seconds %d\n", time.Now().Add(-time.Minute).Unix())
			},
			"/debug/pprof/heap": func() string { return "heap\n# GCCPUFraction = " + share + "\n# DebugGC = false\n" },
		}).URL}
		p := &collecting{least: 0.1}
		if err := p.begin(s); err != nil {
			t.Fatal(err)
		}
		share = c.after
		if err := p.end(); (err == nil) != c.confirmed {
			t.Errorf("share %s: %v", c.after, err)
		}
	}
	i, err := New("collector", map[string]string{"share": "0.4"})
	if err != nil {
		t.Fatal(err)
	}
	s := &Site{Env: []string{"A=b"}}
	if err := i.(Preparer).Prepare(t.Context(), s); err != nil || len(s.Env) != 2 {
		t.Errorf("environment %q, %v", s.Env, err)
	}
}

// TestLogPipe fills the pipe while nobody reads it.
func TestLogPipe(t *testing.T) {
	for _, begun := range []bool{false, true} {
		i, err := New("log-pipe", map[string]string{"still": "20ms", "every": "100ms"})
		if err != nil {
			t.Fatal(err)
		}
		s := &Site{Dir: t.TempDir()}
		if err := i.(Preparer).Prepare(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.Serve, " "); got != "--log sync --log-file "+s.Dir+"/engine.log" {
			t.Errorf("flags %s", got)
		}
		f, err := os.OpenFile(s.Dir+"/engine.log", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if begun {
			if err := i.Start(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		pipe := i.(*logPipe)
		until(t, "a log", func() bool {
			_, err := f.Write([]byte(strings.Repeat(strings.Repeat("x", 199)+"\n", 100)))
			return err != nil || !begun || pipe.full.Load() > 0
		})
		f.Close()
		for range 2 {
			if err := i.Stop(); err != nil {
				t.Error(err)
			}
		}
		if err := i.Confirm(); (err == nil) != begun {
			t.Errorf("begun %v: %v", begun, err)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	for _, c := range []struct {
		inject string
		with   map[string]string
	}{
		{"cpu-quota", nil}, {"cpu-quota", map[string]string{"cores": "0"}}, {"neighbours", map[string]string{"per_core": "1000"}},
		{"slow-disk", nil}, {"tight-memory", map[string]string{"squeezes": "-1"}}, {"log-pipe", map[string]string{"still": "5s", "every": "5s"}},
		{"network", nil}, {"proxy-buffer", nil}, {"slow-readers", map[string]string{"bytes": "x"}}, {"lock", map[string]string{"share": "1"}},
		{"hang", map[string]string{"much": "1"}}, {"collector", map[string]string{"share": "2"}}, {"threads", map[string]string{"per_core": "0"}},
	} {
		if _, err := New(c.inject, c.with); err == nil {
			t.Errorf("%s takes %v", c.inject, c.with)
		}
	}
}
