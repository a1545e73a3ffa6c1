package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkPagesDuringPrefill is how long the pages take that a balancer and a
// scraper read, while prompts of 2 000 tokens are computed one after another, with
// all cores, in chunks of 256 tokens and in one piece:
//
//	go test -run none -bench PagesDuringPrefill -benchtime 300x ./cmd/llmtop
//
// The gate is 50 ms on a quiet machine.
func BenchmarkPagesDuringPrefill(b *testing.B) {
	for _, budget := range []string{"256", "2048"} {
		for _, page := range []string{"/health", "/metrics"} {
			b.Run(page[1:]+"/budget="+budget, func(b *testing.B) {
				s := startServe(b, "--log", "off", "--threads", "0", "--max-num-batched-tokens", budget)
				ctx, cancel := context.WithCancel(b.Context())
				over := make(chan error)
				go func() { over <- prefill(ctx, s.url) }()
				s.busy(b)
				var took []time.Duration
				for b.Loop() {
					begun := time.Now()
					s.page(b, page)
					took = append(took, time.Since(begun))
				}
				cancel()
				if err := <-over; err != nil {
					b.Fatal(err)
				}
				slices.Sort(took)
				for name, at := range map[string]int{"p50-ms": len(took) / 2, "p99-ms": len(took) * 99 / 100, "max-ms": len(took) - 1} {
					b.ReportMetric(float64(took[at].Microseconds())/1000, name)
				}
			})
		}
	}
}

// page reads one, whole.
func (s *served) page(t testing.TB, path string) string {
	t.Helper()
	r, err := http.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, r.StatusCode, err)
	}
	return string(body)
}

// busy waits until a prompt is being computed.
func (s *served) busy(t testing.TB) {
	t.Helper()
	for !strings.Contains(s.page(t, "/debug/requests?state=running"), `"state":"prefill"`) {
		if t.Context().Err() != nil {
			t.Fatal("no prompt is computed")
		}
	}
}

// prefill has prompts of 2 000 random tokens computed until ctx ends.
func prefill(ctx context.Context, url string) error {
	for ctx.Err() == nil {
		var prompt strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&prompt, "%s%d", map[bool]string{true: "", false: ","}[i == 0], 300+rand.IntN(600))
		}
		body := strings.NewReader(`{"prompt":[` + prompt.String() + `],"max_tokens":1}`)
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/completions", body)
		if err != nil {
			return err
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			continue // ctx has ended, or the next try says so
		}
		r.Body.Close()
		if r.StatusCode != http.StatusOK {
			return fmt.Errorf("prefill: status %d", r.StatusCode)
		}
	}
	return nil
}
