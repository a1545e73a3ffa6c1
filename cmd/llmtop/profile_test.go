package main

import (
	"bytes"
	"fmt"
	"net/http"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"github.com/google/pprof/profile"

	"llmtop/engine"
	"llmtop/probes"
	"llmtop/probes/frames"
)

// A CPU profile of the real engine bears the stages, on the threads of the forward
// pass as well, and llmtop reads them. The profiler samples, so the engine works until
// each stage has been seen.
func TestProfileBearsStages(t *testing.T) {
	addr := listen(t, engine.Config{Threads: 2, MaxNumSeqs: 4})
	seen, workers := map[string]bool{}, map[string]bool{}
	shares := map[string]float64{}
	complete := func() bool {
		for _, stage := range []string{"tokenize", "prefill", "decode"} {
			if !seen[stage] {
				return false
			}
		}
		return (workers["prefill"] || workers["mixed"]) && workers["decode"] && shares[frames.Model] > 0 && shares[frames.Tokenize] > 0
	}
	for round := 0; !complete() && round < 40; round++ {
		raw := profiled(t, func() { work(t, "http://"+addr) })
		p, err := profile.ParseData(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Sample {
			for _, stage := range s.Label["stage"] {
				seen[stage] = true
				workers[stage] = workers[stage] || runs(s, "llmtop/engine/model.(*workers).serve")
			}
		}
		facts, err := frames.Facts(&probes.Profile{Raw: raw})
		if err != nil {
			t.Fatal(err)
		}
		for what, share := range facts.Share {
			shares[what] = max(shares[what], share)
		}
	}
	if !complete() {
		t.Errorf("stages %v, on the workers %v, shares %v", seen, workers, shares)
	}
}

// profiled is the CPU profile of f.
func profiled(t *testing.T, f func()) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Skipf("no CPU profile: %v", err)
	}
	f()
	pprof.StopCPUProfile()
	return b.Bytes()
}

// work has the engine tokenize a prompt that is far too long, and serve a few others.
func work(t *testing.T, url string) {
	t.Helper()
	const sentence = "Why is the p99 so high? "
	var all sync.WaitGroup
	ask := func(prompt string, status int) {
		body := fmt.Sprintf(`{"prompt":%q,"max_tokens":30,"ignore_eos":true}`, prompt)
		r, err := http.Post(url+"/v1/completions", "", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		r.Body.Close()
		if r.StatusCode != status {
			t.Errorf("status %d, want %d", r.StatusCode, status)
		}
	}
	all.Go(func() { ask(strings.Repeat(sentence, 10_000), http.StatusBadRequest) })
	for range 3 {
		all.Go(func() { ask(strings.Repeat(sentence, 20), http.StatusOK) })
	}
	all.Wait()
}

func runs(s *profile.Sample, function string) bool {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function != nil && line.Function.Name == function {
				return true
			}
		}
	}
	return false
}
