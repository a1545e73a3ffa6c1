package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// story begins all prompts, so that there is something to find in the prefix cache.
const story = "It was 3 am when the pager rang. TTFT rose from 210 ms to 2400 ms. "

var storyPrompts = []string{
	story + "Mira", story + "Preemptions are up and the KV cache is full. The clocks held steady.",
	"The GPU was only 9 percent busy and", story + "The queue",
}

// How the engine is set up changes when a token is computed, never which: answers of
// the real model, greedy and drawn with a seed, are the same alone in a large cache
// and however they are batched, cut, reused, interrupted and shared out among threads.
func TestAnswersDoNotDependOnTheSetup(t *testing.T) {
	alone := Config{MaxNumSeqs: 1, MaxBatchedTokens: 512, Threads: 1, NoPrefixCaching: true}
	want := answers(t, alone, storyPrompts)
	tiny := Config{MaxNumSeqs: 6, MaxBatchedTokens: 24, LongPrefillTokenThreshold: 11, BlockSize: 4, NumBlocks: 24, KVHeadroom: None}
	tinyCached := tiny
	tiny.NoPrefixCaching = true
	for _, c := range []struct {
		name      string
		config    Config
		preempted bool
		cached    bool
	}{
		{"one at a time, with the prefix cache", Config{MaxNumSeqs: 1, MaxBatchedTokens: 512, BlockSize: 4}, false, true},
		{"all at once", Config{MaxNumSeqs: 8, MaxBatchedTokens: 512, NoPrefixCaching: true}, false, false},
		{"in small chunks", Config{MaxNumSeqs: 8, MaxBatchedTokens: 9, BlockSize: 8, NoPrefixCaching: true}, false, false},
		{"three threads", Config{Threads: 3, NoPrefixCaching: true}, false, false},
		{"a tiny cache", tiny, true, false},
		{"a tiny cache that keeps prefixes", tinyCached, true, true},
		{"a static batch", Config{MaxNumSeqs: 4, Policy: Static, NoPrefixCaching: true}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.MaxQueue = Unlimited
			e := startOncall(t, c.config)
			defer e.stop()
			got := ask(t, e, storyPrompts)
			for i := range want {
				if got[i] != want[i] || want[i] == "" {
					t.Errorf("answer %d:\n got %q\nwant %q", i, got[i], want[i])
				}
			}
			if n := counterValue(t, e, "vllm:num_preemptions_total"); (n > 0) != c.preempted && !raceEnabled {
				t.Errorf("%g preemptions", n)
			}
			if hits := e.scheduler.Stats().PrefixHits; (hits > 0) != c.cached {
				t.Errorf("%d tokens found in the cache", hits)
			}
		})
	}
}

// answers are those of an engine of its own.
func answers(t *testing.T, c Config, prompts []string) []string {
	t.Helper()
	c.MaxQueue = Unlimited
	e := startOncall(t, c)
	defer e.stop()
	return ask(t, e, prompts)
}

// ask sends each prompt twice, greedy and with a seed, all at once but the first,
// and returns the answers in that order.
func ask(t *testing.T, e *testEngine, prompts []string) []string {
	t.Helper()
	texts := make([]string, 2*len(prompts))
	length := 28
	if raceEnabled {
		length = 8
	}
	one := func(i int) {
		more := `"temperature":0`
		if i%2 == 1 {
			more = fmt.Sprintf(`"temperature":1,"top_p":0.9,"seed":%d`, i)
		}
		body := fmt.Sprintf(`{"prompt":%q,"max_tokens":%d,"ignore_eos":true,%s}`, prompts[i/2], length, more)
		w := e.post(t.Context(), "/v1/completions", body)
		texts[i] = decodeBody[answerBody](t, w).Choices[0].Text
	}
	one(0)
	var all sync.WaitGroup
	for i := 1; i < len(texts); i++ {
		all.Go(func() { one(i) })
	}
	all.Wait()
	return texts
}

// The prefix cache saves the prefill of what prompts have in common.
func TestPrefixCacheSavesPrefill(t *testing.T) {
	system := strings.Repeat(story, 6)
	prefilled := func(c Config) (tokens int, cached uint64) {
		c, err := c.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		runner, w, err := newCPURunner(c)
		if err != nil {
			t.Fatal(err)
		}
		count := &countingRunner{Runner: runner}
		c.Runner, c.Tokenizer, c.ChatTemplate = count, w.tokenizer, w.template
		e := startOncall(t, c)
		defer e.stop()
		for i := range 6 {
			w := e.post(t.Context(), "/v1/chat/completions", fmt.Sprintf(
				`{"messages":[{"role":"system","content":%q},{"role":"user","content":"question %d"}],"max_tokens":1,"temperature":0}`, system, i))
			if w.Code != 200 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		return count.tokens, e.scheduler.Stats().PrefixHits
	}
	without, none := prefilled(Config{NoPrefixCaching: true})
	with, cached := prefilled(Config{})
	t.Logf("%d tokens computed without the cache, %d with it", without, with)
	if none != 0 || uint64(without-with) != cached {
		t.Errorf("%d tokens saved, %d found; without the cache %d found", without-with, cached, none)
	}
	if with*2 > without {
		t.Errorf("%d of %d tokens are computed all the same", with, without)
	}
}

// countingRunner counts the tokens that it computes.
type countingRunner struct {
	Runner
	tokens int
}

func (r *countingRunner) Run(batch []Chunk) ([]Result, error) {
	for _, c := range batch {
		r.tokens += len(c.Tokens)
	}
	return r.Runner.Run(batch)
}
