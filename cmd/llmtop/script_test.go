package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"llmtop/engine"
	"llmtop/engine/load"
)

// startEngine is the script command `engine [NAME]`: a real engine on a free port;
// $ENGINE (or $NAME) is its URL.
func startEngine(ts *testscript.TestScript, _ bool, args []string) {
	name := "ENGINE"
	if len(args) > 0 {
		name = args[0]
	}
	e, err := engine.New(engine.Config{Threads: 1})
	ts.Check(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); e.Run(ctx) }()
	server := httptest.NewServer(e.Handler())
	ts.Defer(func() { cancel(); server.CloseClientConnections(); server.Close(); <-ended })
	ts.Setenv(name, server.URL)
}

// startServer is `server KIND`: something that is not an engine; $SERVER is its URL.
func startServer(ts *testscript.TestScript, _ bool, args []string) {
	kinds := map[string]http.HandlerFunc{
		"html": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><html><body>hello</body></html>")
		},
		"notfound": http.NotFound,
		"silent":   func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"huge": func(w http.ResponseWriter, r *http.Request) { // 200 MB of metrics, announced
			w.Header().Set("Content-Length", "200000000")
			endless(w, r)
		},
		"endless": endless,
		"hostile": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\",model_name=\"[red]\x1b[2J\x07[-:-:-]evil\"} 3\n"+
				"# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting{engine=\"0\",model_name=\"[red]\x1b[2J\x07[-:-:-]evil\"} 1\n")
		},
		"key": func(w http.ResponseWriter, r *http.Request) { // an engine that wants X-API-Key
			if r.Header.Get("X-API-Key") != "hunter2" {
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			fmt.Fprint(w, "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 0\n")
		},
		"denied": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) },
	}
	if len(args) != 1 || kinds[args[0]] == nil {
		ts.Fatalf("usage: server KIND")
	}
	server := httptest.NewServer(kinds[args[0]])
	ts.Defer(func() { server.CloseClientConnections(); server.Close() })
	ts.Setenv("SERVER", server.URL)
}

// makeTraffic is `traffic URL RATE DURATION`: requests in the background of the script.
func makeTraffic(ts *testscript.TestScript, _ bool, args []string) {
	rate, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	length, err := time.ParseDuration(args[2])
	ts.Check(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		load.Run(ctx, load.Config{URL: args[0], Rate: rate, Duration: length, OutputTokens: 20})
	}()
	ts.Defer(func() { cancel(); <-ended })
}

// wantStatus is `status N[,M…] COMMAND…`: the command must end with one of these exit statuses.
func wantStatus(ts *testscript.TestScript, _ bool, args []string) {
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if !slices.Contains(strings.Split(args[0], ","), strconv.Itoa(got)) {
		ts.Fatalf("%s ended with status %d, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// cutFile is `cut FILE NEW BYTES`: the first bytes of a file; a negative number cuts from the end.
func cutFile(ts *testscript.TestScript, _ bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	if n < 0 {
		n += len(data)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data[:n], 0o600))
}

// flipByte is `flip FILE NEW OFFSET`: the same file with one byte changed.
func flipByte(ts *testscript.TestScript, _ bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	data[n] ^= 0x40
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}

// endless is 200 MB of metrics.
func endless(w http.ResponseWriter, _ *http.Request) {
	line := []byte(strings.Repeat("vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 1\n", 2000))
	for range 200_000_000 / len(line) {
		if _, err := w.Write(line); err != nil {
			return
		}
	}
}
