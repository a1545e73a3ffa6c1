package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"llmtop/engine"
)

// The short form: the same clients, the same checks, some seconds, in this process.
func TestShortSoak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory and descriptors are read from /proc")
	}
	e, err := engine.New(engine.Config{MaxNumSeqs: 4, MaxBatchedTokens: 64, NumBlocks: 64})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()
	server := httptest.NewServer(e.Handler())
	defer func() {
		server.Close()
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	}()
	var out bytes.Buffer
	p := plan{
		url: server.URL, length: time.Second, warm: time.Second, every: time.Second, clients: 24, seed: 1,
		sizes: sizes{prompt: 160, answer: 10},
		// The process is the clients' as well, and the race detector's.
		slack: slack{goroutines: 4, fds: 6, rss: 512 << 20, heap: 64 << 20},
	}
	passed, err := soak(t.Context(), p, &out)
	if err != nil || !passed {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, seen := range []string{"answered", "rejected", "left", "refused", "abort", "PASS"} {
		if !strings.Contains(out.String(), seen) {
			t.Errorf("%q is not in the report:\n%s", seen, &out)
		}
	}
	t.Logf("\n%s", &out)
}
