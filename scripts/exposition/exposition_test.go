package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/scripts/internal/play"
)

const small = "#> +2/s\n# TYPE a counter\na 10\nprocess_start_time_seconds 1000\n"

func start(t *testing.T, clock *time.Time, args ...string) http.Handler {
	t.Helper()
	o, _, err := parseFlags(append(args, "x.prom"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := play.Parse("x.prom", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	line, err := timeline(o.state, o.then)
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHandler(f, line, o.page, func() time.Time { return *clock })
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(h http.Handler, path string, set func(*http.Request)) *http.Response {
	r, w := httptest.NewRequest("GET", "http://127.0.0.1"+path, nil), httptest.NewRecorder()
	if set != nil {
		set(r)
	}
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(r *http.Response) string {
	b, _ := io.ReadAll(r.Body)
	return string(b)
}

func TestPagesMove(t *testing.T) {
	began := time.Unix(1796000000, 0)
	clock := began
	h := start(t, &clock, "-then", "30s:stale", "-then", "60s:restarted", "-start-header", "Process-Start-Time-Unix", "-header", "Server: llama.cpp")
	for _, c := range []struct {
		at     int
		value  string
		header string
	}{{0, "a 10", "1000"}, {10, "a 30", "1000"}, {45, "a 70", "1000"}, {65, "a 10", "4660"}} {
		clock = began.Add(time.Duration(c.at) * time.Second)
		r := get(h, "/metrics", nil)
		if text := body(r); !strings.Contains(text, "\n"+c.value+"\n") || strings.Contains(text, "#>") {
			t.Errorf("second %d: got %q, want %s", c.at, text, c.value)
		}
		if got := r.Header.Get("Process-Start-Time-Unix"); got != c.header || r.Header.Get("Server") != "llama.cpp" {
			t.Errorf("second %d: headers %v", c.at, r.Header)
		}
	}
}

func TestAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "version.json")
	if err := os.WriteFile(file, []byte(`{"version":"0.11.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		args       []string
		path       string
		set        func(*http.Request)
		status     int
		kind, body string
	}{
		{nil, "/metrics", nil, 200, "text/plain; version=0.0.4; charset=utf-8", "a 10\n"},
		{nil, "/version", nil, 404, "", ""},
		{[]string{"-path", "/v1/metrics"}, "/v1/metrics", nil, 200, "", "a 10\n"},
		{[]string{"-path", "/v1/metrics"}, "/metrics", nil, 404, "", ""},
		{[]string{"-page", "/version=" + file}, "/version", nil, 200, "application/json", "0.11.0"},
		{[]string{"-status", "503"}, "/metrics", nil, 503, "", "Service Unavailable"},
		{[]string{"-redirect", "http://127.0.0.1:9/x"}, "/metrics", nil, 302, "", ""},
		{[]string{"-content-type", "text/html"}, "/metrics", nil, 200, "text/html", "a 10\n"},
		{[]string{"-auth", "bearer:t0ken"}, "/metrics", nil, 401, "", ""},
		{[]string{"-auth", "bearer:t0ken"}, "/metrics", func(r *http.Request) { r.Header.Set("Authorization", "Bearer t0ken") }, 200, "", "a 10\n"},
		{[]string{"-auth", "basic:ops:geheim"}, "/metrics", func(r *http.Request) { r.SetBasicAuth("ops", "geheim") }, 200, "", "a 10\n"},
		{[]string{"-auth", "basic:ops:geheim"}, "/metrics", func(r *http.Request) { r.SetBasicAuth("ops", "x") }, 401, "", ""},
		{[]string{"-auth", "key:k"}, "/metrics", func(r *http.Request) { r.Header.Set("X-API-Key", "k") }, 200, "", "a 10\n"},
	}
	now := time.Now()
	for _, c := range cases {
		r := get(start(t, &now, c.args...), c.path, c.set)
		if text := body(r); r.StatusCode != c.status || c.kind != "" && r.Header.Get("Content-Type") != c.kind || !strings.Contains(text, c.body) {
			t.Errorf("%v %s: got %d, %s, %q", c.args, c.path, r.StatusCode, r.Header.Get("Content-Type"), text)
		}
	}
}

func TestQuoted(t *testing.T) {
	now := time.Now()
	var page string
	if err := json.Unmarshal([]byte(body(get(start(t, &now, "-json-quoted"), "/metrics", nil))), &page); err != nil || !strings.Contains(page, "a 10\n") {
		t.Errorf("got %q, %v", page, err)
	}
}

func TestRefused(t *testing.T) {
	now := time.Now()
	f, err := play.Parse("x.prom", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-hang", "-endless"}, {"-status", "7"}, {"-auth", "bearer:"}, {"-auth", "x:y"}, {"-header", "x"}, {"-page", "x"}, {"-page", "/metrics=/dev/null"}} {
		o, _, err := parseFlags(append(args, "x.prom"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newHandler(f, nil, o.page, func() time.Time { return now }); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
	for _, then := range []string{"30s", "soon:idle", "5s:asleep", "-5s:idle"} {
		if _, err := timeline("loaded", []string{then}); err == nil {
			t.Errorf("-then %s: no error", then)
		}
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "10.0.0.7:0", "example.org:0", "127.0.0.1"} {
		if l, _, err := listen(options{addr: addr}); err == nil {
			l.Close()
			t.Errorf("listens on %s", addr)
		}
	}
}

// The sockets are real: TLS with the certificate that was written, and a unix socket.
func TestListen(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	h := start(t, &now)
	ca := filepath.Join(dir, "ca.pem")
	for _, o := range []options{{addr: "127.0.0.1:0"}, {addr: "127.0.0.1:0", tls: true, caFile: ca}, {unix: filepath.Join(dir, "s")}} {
		l, address, err := listen(o)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: h}
		go server.Serve(l)
		defer server.Close()
		transport := &http.Transport{}
		if o.tls {
			pem, err := os.ReadFile(ca)
			if err != nil {
				t.Fatal(err)
			}
			pool := x509.NewCertPool()
			pool.AppendCertsFromPEM(pem)
			transport.TLSClientConfig = &tls.Config{RootCAs: pool}
		}
		if o.unix != "" {
			transport.DialContext = unixDialer(o.unix)
			address = "http://engine"
		}
		r, err := (&http.Client{Transport: transport}).Get(address + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		if text := body(r); !strings.Contains(text, "a 10\n") {
			t.Errorf("%+v: got %q", o, text)
		}
		transport.CloseIdleConnections()
	}
}

func unixDialer(path string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
}
