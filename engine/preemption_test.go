package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Preemption, chunking and batching change when a token is computed, never which:
// greedy answers of the real model are the same with a large cache, one at a time,
// and with a tiny cache under load.
func TestPreemptionKeepsAnswers(t *testing.T) {
	prompts := []string{
		"It was 3 am when the pager rang. Mira", "The GPU was only 9 percent busy and",
		"TTFT rose from 210 ms to 2400 ms, but", "Preemptions are up and the KV cache is full. " + strings.Repeat("The clocks held steady. ", 5),
	}
	large := answers(t, Config{MaxNumSeqs: 1, MaxBatchedTokens: 512}, prompts, false)
	tiny := Config{MaxNumSeqs: 6, MaxBatchedTokens: 24, LongPrefillTokenThreshold: 11, BlockSize: 4, NumBlocks: 24}
	small := answers(t, tiny, prompts, true)
	for i := range prompts {
		if large[i] != small[i] || large[i] == "" {
			t.Errorf("prompt %d:\nlarge cache %q\n tiny cache %q", i, large[i], small[i])
		}
	}
}

// answers are the greedy answers to prompts sent all at once.
func answers(t *testing.T, c Config, prompts []string, preempted bool) []string {
	t.Helper()
	c.MaxQueue = Unlimited
	e := startOncall(t, c)
	defer e.stop()
	texts := make([]string, len(prompts))
	var all sync.WaitGroup
	for i, p := range prompts {
		all.Go(func() {
			w := e.post(t.Context(), "/v1/completions", fmt.Sprintf(`{"prompt":%q,"max_tokens":28,"temperature":0,"ignore_eos":true}`, p))
			texts[i] = decodeBody[answerBody](t, w).Choices[0].Text
		})
	}
	all.Wait()
	if n := counterValue(t, e, "vllm:num_preemptions_total"); (n > 0) != preempted {
		t.Errorf("%g preemptions", n)
	}
	return texts
}
