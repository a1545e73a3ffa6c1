package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/workload"
	"llmtop/probes"
	"llmtop/probes/requests"
)

// cpuLimits are those of the engine that is served and of the one that is simulated.
var cpuLimits = engine.Limits{MaxNumSeqs: 16, MaxBatchedTokens: 256, Headroom: engine.DefaultKVHeadroom, MinShare: engine.DefaultMinShare}

const (
	cpuBlocks    = 2048
	cpuBlockSize = 16
)

// cpuLoad is one load on the real engine. Requests come at random times.
type cpuLoad struct {
	rate           float64 // requests/s
	prompt, output int     // tokens, mean; each request draws 0.5–1.5 times that
	seed           uint64
}

// requests draws them for a span.
func (l cpuLoad) requests(span time.Duration) []workload.Request {
	draw := rand.New(rand.NewPCG(l.seed, 7))
	var out []workload.Request
	for at := 0.0; ; {
		at += draw.ExpFloat64() / l.rate
		if at >= span.Seconds() {
			return out
		}
		vary := func(mean int) int { return max(2, int(float64(mean)*(0.5+draw.Float64()))) }
		out = append(out, workload.Request{At: time.Duration(at * 1e9), Prompt: vary(l.prompt), Output: vary(l.output), Stream: true})
	}
}

// step is what one step of the real engine computed, and how long it took.
type step struct {
	work  cost.Work
	took  time.Duration
	pause time.Duration // between the step before and this one
}

// watched notes the steps of a runner, beginning to beginning while there is work.
type watched struct {
	engine.Runner
	mu    sync.Mutex
	steps []step
	ended time.Time // of the last one
}

func (w *watched) Run(batch []engine.Chunk) ([]engine.Result, error) {
	s := step{work: workOf(batch)}
	begun := time.Now()
	results, err := w.Runner.Run(batch)
	s.took = time.Since(begun)
	w.mu.Lock()
	if !w.ended.IsZero() {
		s.pause = begun.Sub(w.ended)
	}
	w.ended = time.Now()
	w.steps = append(w.steps, s)
	w.mu.Unlock()
	return results, err
}

// workOf is a batch in the cost model's terms.
func workOf(batch []engine.Chunk) (w cost.Work) {
	for _, c := range batch {
		n := len(c.Tokens)
		if c.Sampler != nil {
			w.Sampled++
		}
		if n == 1 && c.Start > 0 {
			w.Decodes, w.DecodeTokens, w.Context = w.Decodes+1, w.DecodeTokens+1, w.Context+c.Start
			continue
		}
		w.Prefills, w.PrefillTokens, w.PrefillContext = w.Prefills+1, w.PrefillTokens+n, w.PrefillContext+c.Start
		w.PrefillPairs += float64(n) * (float64(c.Start) + float64(n+1)/2)
	}
	return w
}

// served is what the real engine did under a load.
type served struct {
	requests []*probes.Request
	steps    []step
}

// measure serves the requests with the real engine, each at its time, over HTTP in this process.
func measure(ctx context.Context, list []workload.Request) (served, error) {
	w := &watched{}
	e, err := engine.New(engine.Config{
		NumBlocks: cpuBlocks, BlockSize: cpuBlockSize, MaxNumSeqs: cpuLimits.MaxNumSeqs, MaxBatchedTokens: cpuLimits.MaxBatchedTokens,
		Threads: 1, MaxQueue: engine.Unlimited, WrapRunner: func(r engine.Runner) engine.Runner { w.Runner = r; return w },
	})
	if err != nil {
		return served{}, err
	}
	runtime.GOMAXPROCS(max(2, runtime.NumCPU()))
	loop, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- e.Run(loop) }()
	server := httptest.NewServer(e.Handler())
	defer server.Close()
	told := requests.New(server.URL, requests.Options{})
	if _, err := told.Read(ctx); err != nil {
		return served{}, err
	}
	out := served{}
	if err := send(ctx, server, list, func() error { return collect(ctx, told, &out) }); err != nil {
		return out, err
	}
	if err := collect(ctx, told, &out); err != nil {
		return out, err
	}
	stop()
	out.steps = w.steps
	return out, <-ended
}

// collect adds the requests that have finished since the last call.
func collect(ctx context.Context, told *requests.Probe, out *served) error {
	section, err := told.Read(ctx)
	if err != nil {
		return err
	}
	if r, ok := section.(*probes.Requests); ok {
		out.requests = append(out.requests, r.Finished...)
	}
	return nil
}

// send asks at the times of the list and waits for all answers; now and then it calls between.
func send(ctx context.Context, server *httptest.Server, list []workload.Request, between func() error) error {
	var out sync.WaitGroup
	failures := make(chan error, len(list))
	start, looked := time.Now(), time.Now()
	for n, r := range list {
		timer := time.NewTimer(time.Until(start.Add(r.At)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		out.Go(func() {
			if err := ask(ctx, server, n, r); err != nil {
				failures <- err
			}
		})
		if time.Since(looked) > time.Second {
			looked = time.Now()
			if err := between(); err != nil {
				return err
			}
		}
	}
	out.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return nil
	}
}

// ask sends one request of exactly those lengths and reads its answer to the end.
func ask(ctx context.Context, server *httptest.Server, n int, r workload.Request) error {
	draw := rand.New(rand.NewPCG(uint64(n), 11))
	prompt := make([]int, r.Prompt)
	for i := range prompt {
		prompt[i] = 3 + draw.IntN(400) // ids of plain tokens in the built-in vocabulary
	}
	body, err := json.Marshal(map[string]any{"model": "oncall", "prompt": prompt, "max_tokens": r.Output, "ignore_eos": true, "stream": true, "temperature": 1})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := server.Client().Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 300))
		return fmt.Errorf("the engine answers %s: %s", res.Status, text)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}
