package engine

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// goldenPrompts are prompts with the greedy tokens that the shipped model goes on with.
type goldenPrompt struct {
	Name   string `json:"name"`
	IDs    []int  `json:"ids"`
	Greedy []int  `json:"greedy"`
}

// goldens are the parts of the model's goldens that the engine is held against, see model/oncall/README.md.
type goldens struct {
	Prompts     []goldenPrompt `json:"prompts"`
	Speculative struct {
		K, Tokens   int
		Story, Chat goldenAcceptance
	} `json:"speculative"`
}

type goldenAcceptance struct{ Proposed, Accepted int }

func readGoldens(t testing.TB) (g goldens) {
	t.Helper()
	data, err := os.ReadFile("model/oncall/goldens.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// answerAll runs sequences to their ends on an engine of its own, step by step in
// the test's goroutine, and returns their outputs and the engine, which is closed.
func answerAll(t testing.TB, c Config, seqs []*Sequence) (outputs [][]int, e *Engine, steps int) {
	t.Helper()
	c.MaxQueue = Unlimited
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	outputs, steps = answerOn(t, e, seqs)
	return outputs, e, steps
}

// answerOn does it on an engine whose loop does not run, and closes it.
func answerOn(t testing.TB, e *Engine, seqs []*Sequence) (outputs [][]int, steps int) {
	t.Helper()
	for _, q := range seqs {
		e.submit(newJob(q, e.log.open("", e.config.Now()), e.queue.enter(Normal)))
	}
	for e.takeCommands(); !e.scheduler.Idle(); steps++ {
		e.step()
	}
	for _, q := range seqs {
		outputs = append(outputs, q.Output)
	}
	if e.speculation != nil {
		if d, ok := e.speculation.Proposer.(*draftProposer); ok && len(d.seqs) != 0 {
			t.Errorf("the draft model still follows %d sequences", len(d.seqs))
		}
	}
	if err := e.runner.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
	return outputs, steps
}

// sequences are the golden prompts up to a length, each with a sampler of its own.
func sequences(prompts []goldenPrompt, longest, tokens int, sampler func(n int) *Sampler) (seqs []*Sequence) {
	for n, p := range prompts {
		if len(p.IDs) <= longest {
			seqs = append(seqs, &Sequence{Prompt: p.IDs, MaxTokens: tokens, IgnoreEOS: true, Sampler: sampler(n)})
		}
	}
	return seqs
}

func greedily(int) *Sampler { return NewSampler(0, 1, 0) }
func seeded(n int) *Sampler { return NewSampler(.8, .95, uint64(n)+7) }

func counted(c prometheus.Counter) float64 {
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		panic(err)
	}
	return m.GetCounter().GetValue()
}

func (s *speculation) acceptance() float64 {
	return counted(s.metrics.accepted) / max(1, counted(s.metrics.draftTokens))
}

// The answers are the same to the token with guesses and without, greedy or with a
// seed, whoever guesses, however the work is cut and whatever is preempted.
func TestSpeculationKeepsAnswers(t *testing.T) {
	prompts, tokens := readGoldens(t).Prompts, 48
	if raceEnabled {
		prompts, tokens = prompts[:4], 10
	}
	const short, all = 100, 2000 // longest prompt
	plain, _, _ := answerAll(t, Config{}, sequences(prompts, short, tokens, seeded))
	for _, c := range []struct {
		name      string
		longest   int
		config    Config
		low, high float64 // acceptance of greedy answers
	}{
		{"ngram", short, Config{Speculative: SpeculateNgram}, .05, 1},
		{"ngram, small chunks", short, Config{Speculative: SpeculateNgram, MaxBatchedTokens: 24, MaxNumSeqs: 3, Threads: 1}, .05, 1},
		{"ngram, preemptions", short, Config{Speculative: SpeculateNgram, NumBlocks: 18, NumSpeculativeTokens: 7}, .05, 1},
		{"draft", all, Config{Speculative: SpeculateDraft}, .6, 1},
		{"draft, small chunks", short, Config{Speculative: SpeculateDraft, MaxBatchedTokens: 17, MaxNumSeqs: 2, Threads: 3}, .6, 1},
		{"draft, preemptions", short, Config{Speculative: SpeculateDraft, NumBlocks: 18, NumSpeculativeTokens: 6, Threads: 1}, .5, 1},
		{"draft, one guess", short, Config{Speculative: SpeculateDraft, NumSpeculativeTokens: 1, BlockSize: 3}, .6, 1},
		{"random draft", short, Config{Speculative: SpeculateDraft, DraftModelPath: RandomDraft}, 0, .05},
	} {
		t.Run(c.name, func(t *testing.T) {
			if raceEnabled {
				c.longest, c.low, c.high = short, 0, 1
			}
			seqs := sequences(prompts, c.longest, tokens, greedily)
			want := goldenAnswers(prompts, c.longest, tokens)
			got, e, steps := answerAll(t, c.config, seqs)
			same(t, "greedy", got, want)
			acceptance, preemptions := e.speculation.acceptance(), 0
			for _, q := range seqs {
				preemptions += q.Preemptions
			}
			t.Logf("greedy: %d steps, acceptance %.3f, %d preemptions", steps, acceptance, preemptions)
			if acceptance < c.low || acceptance > c.high {
				t.Errorf("acceptance %.3f, want %g to %g", acceptance, c.low, c.high)
			}
			if !raceEnabled && strings.Contains(c.name, "preemptions") && preemptions == 0 {
				t.Error("no preemption: this run shows little")
			}
			got, e, _ = answerAll(t, c.config, sequences(prompts, short, tokens, seeded))
			same(t, "seeded", got, plain)
			t.Logf("seeded: acceptance %.3f", e.speculation.acceptance())
		})
	}
}

// goldenAnswers are the greedy tokens after each prompt up to a length.
func goldenAnswers(prompts []goldenPrompt, longest, tokens int) (answers [][]int) {
	for _, p := range prompts {
		if len(p.IDs) <= longest {
			answers = append(answers, p.Greedy[:tokens])
		}
	}
	return answers
}

func same(t *testing.T, kind string, got, want [][]int) {
	t.Helper()
	for n := range want {
		if !slices.Equal(got[n], want[n]) {
			t.Errorf("%s, prompt %d: tokens differ with guesses:\n%v\n%v", kind, n, got[n], want[n])
		}
	}
}

// The same holds for a cache of bytes: guesses change nothing there either.
func TestSpeculationOverInt8(t *testing.T) {
	prompts := readGoldens(t).Prompts[:6]
	plain, _, _ := answerAll(t, Config{KVCacheType: "int8"}, sequences(prompts, 100, 24, greedily))
	for _, kind := range []string{SpeculateNgram, SpeculateDraft} {
		got, _, _ := answerAll(t, Config{KVCacheType: "int8", Speculative: kind, MaxBatchedTokens: 40}, sequences(prompts, 100, 24, greedily))
		same(t, kind, got, plain)
	}
}

// oracle guesses what the fake model says, but for every third token.
type oracle struct{ forgotten int }

func (o *oracle) Propose(items []Item) (guesses [][]int, err error) {
	for _, i := range items {
		var g []int
		all := i.Seq.tokens(nil, 0, i.Seq.Len())
		for range i.Drafts {
			next := nextToken(all)
			if len(all)%3 == 0 {
				next++
			}
			g, all = append(g, next), append(all, next)
		}
		guesses = append(guesses, g)
	}
	return guesses, nil
}

func (o *oracle) Forget(*Sequence) { o.forgotten++ }

// Tokens, latencies and guesses are counted right when a step yields several tokens.
func TestSpeculationMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, o := newClock(), &oracle{}
		e := startFake(t, func(c *Config, f *fakeRunner) {
			c.Speculative, c.NumSpeculativeTokens, c.Now = SpeculateNgram, 3, clock.now
			f.before = func(step int) error {
				clock.advance(10 * time.Microsecond)
				return nil
			}
		})
		defer e.stop()
		e.speculation.Proposer = o
		for _, more := range []string{"", `,"stream":true`} {
			w := e.post(t.Context(), "/v1/completions", completion(4, 12, more))
			if got := streamText(t, w); more != "" && got != expected(4, 12) {
				t.Errorf("text %q, want %q", got, expected(4, 12))
			}
		}
		synctest.Wait()
		e.freed(t)
		// The prompt has 5 tokens, the first step yields the sixth. The guesses for
		// tokens 7, 10, 13 and 16 are wrong, so steps end at these; the last token is
		// not guessed.
		const answers = 2
		f := scrape(t, e)
		steps := float64(e.runner.steps) / answers
		itl := f["vllm:inter_token_latency_seconds"].GetMetric()[0].GetHistogram()
		if itl.GetSampleCount() != uint64(answers*(steps-1)) || steps != 6 {
			t.Errorf("%d inter-token latencies in %g steps each, want one for each of 6 but the first", itl.GetSampleCount(), steps)
		}
		for name, want := range map[string]float64{
			"vllm:generation_tokens_total":                                     12,
			"vllm:spec_decode_num_drafts_total":                                4,
			"vllm:spec_decode_num_draft_tokens_total":                          4 * 3,
			"vllm:spec_decode_num_accepted_tokens_total":                       6,
			`vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"}`: 3,
			`vllm:spec_decode_num_accepted_tokens_per_pos_total{position="1"}`: 3,
			`vllm:spec_decode_num_accepted_tokens_per_pos_total{position="2"}`: 0,
		} {
			if got := counterValue(t, e, name) / answers; got != want {
				t.Errorf("%s: %g an answer, want %g", name, got, want)
			}
		}
		for _, r := range e.requests(t, "").Finished {
			if r.OutputTokens != 12 || r.MaxITL == nil || *r.MaxITL <= 0 {
				t.Errorf("%d output tokens, longest gap %v", r.OutputTokens, r.MaxITL)
			}
		}
		if o.forgotten != answers {
			t.Errorf("%d sequences forgotten, want %d", o.forgotten, answers)
		}
	})
}

// A stop token among those of one step ends the answer there.
func TestStopAmongGuesses(t *testing.T) {
	text := expected(4, 30)
	stop := text[7]
	want := text[:strings.IndexByte(text, stop)]
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, func(c *Config, f *fakeRunner) {
			c.Speculative, c.NumSpeculativeTokens, c.Tokenizer = SpeculateNgram, 4, fakeTokenizer{stop: int(stop)}
		})
		defer e.stop()
		e.speculation.Proposer = &oracle{}
		w := e.post(t.Context(), "/v1/completions", completion(4, 30, ""))
		r := decodeBody[response](t, w)
		if got := *r.Choices[0].Text; got != want || *r.Choices[0].FinishReason != FinishStop {
			t.Errorf("%q, %s: want %q, stop", got, *r.Choices[0].FinishReason, want)
		}
		synctest.Wait()
		e.freed(t)
		if got := counterValue(t, e, "vllm:generation_tokens_total"); got != float64(len(want)+1) {
			t.Errorf("%g tokens counted, want %d", got, len(want)+1)
		}
	})
}

// What is wrong with the settings is said at the start, in one line.
func TestSpeculationRefuses(t *testing.T) {
	for want, c := range map[string]Config{
		`by "medusa" is not supported`:                      {Speculative: "medusa"},
		"num_speculative_tokens is -1":                      {Speculative: SpeculateNgram, NumSpeculativeTokens: -1},
		"num_speculative_tokens is 65":                      {Speculative: SpeculateNgram, NumSpeculativeTokens: 65},
		"loading the draft model: reading model":            {Speculative: SpeculateDraft, DraftModelPath: "no/such/file.gguf"},
		"a draft model needs the built-in runner":           {Speculative: SpeculateDraft, Runner: newFakeRunner(Config{NumBlocks: 1, BlockSize: 1}, 8), Tokenizer: fakeTokenizer{}},
		`a KV cache of type "fp8" is not supported; there `: {KVCacheType: "fp8"},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	main := []string{"a", "b"}
	for _, draft := range [][]string{{"a"}, {"a", "c"}} {
		if err := sameVocabulary(main, draft); err == nil || !strings.Contains(err.Error(), "must be equal") {
			t.Errorf("%v: %v", draft, err)
		}
	}
	if err := sameVocabulary(main, slices.Clone(main)); err != nil {
		t.Error(err)
	}
}

// An engine that does not speculate has none of the families.
func TestNoSpeculationNoMetrics(t *testing.T) {
	for _, kind := range []string{"", SpeculateNgram} {
		e := startFake(t, func(c *Config, _ *fakeRunner) { c.Speculative = kind })
		n := 0
		for name := range scrape(t, e) {
			if strings.HasPrefix(name, "vllm:spec_decode_") {
				n++
			}
		}
		if want := map[string]int{"": 0, SpeculateNgram: 4}[kind]; n != want {
			t.Errorf("speculation %q: %d families, want %d", kind, n, want)
		}
		e.stop()
	}
}
