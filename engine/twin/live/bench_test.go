package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
)

// BenchmarkStreams is what a token of 128 streams costs, with steps that take no time:
//
//	go test ./engine/twin/live -run none -bench Streams
func BenchmarkStreams(b *testing.B) {
	c := config()
	c.Cost = nothing{}
	tw, err := New(c)
	if err != nil {
		b.Fatal(err)
	}
	ec := engine.Config{MaxNumSeqs: 256, MaxBatchedTokens: 8192, NumBlocks: 1 << 16, ModelName: "test-70b", MaxQueue: engine.Unlimited}
	tw.Configure(&ec)
	e, err := engine.New(ec)
	if err != nil {
		b.Fatal(err)
	}
	tw.Serve(e)
	ctx, end := context.WithCancel(b.Context())
	go tw.Live(ctx)
	looped := make(chan error)
	go func() { looped <- e.Run(ctx) }()
	s := httptest.NewServer(tw.Handler(e.Handler()))
	defer func() { end(); <-looped; s.Close() }()
	const streams, tokens = 128, 100
	body := fmt.Appendf(nil, `{"prompt":%q,"max_tokens":%d,"ignore_eos":true,"stream":true}`, strings.Repeat("abc ", 1000), tokens)
	for b.Loop() {
		ended := make(chan error)
		for range streams {
			go func() {
				r, err := http.Post(s.URL+"/v1/completions", "application/json", bytes.NewReader(body))
				if err == nil {
					_, err = io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
				ended <- err
			}()
		}
		for range streams {
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/streams/tokens, "ns/token")
}

type nothing struct{}

func (nothing) Step(*cost.Work, *cost.Conditions) *cost.Cost { return &cost.Cost{} }
