package engine

import (
	"errors"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

func TestSoundLogits(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		logits []float32
		want   bool
	}{
		{[]float32{1, 2}, true},
		{[]float32{-math.MaxFloat32}, true},
		{[]float32{nan, 2, nan}, false},
		{[]float32{-inf, -5}, true},
		{[]float32{nan, nan}, false},
		{[]float32{-inf, -inf}, false},
		{[]float32{nan, -inf}, false},
		{[]float32{1, inf}, false},
		{nil, false},
	} {
		if got := sound(c.logits); got != c.want {
			t.Errorf("%v: %t, want %t", c.logits, got, c.want)
		}
	}
}

// Single NaNs and infinities below are never drawn, by whatever temperature and top_p.
func TestSamplerPassesOverNaN(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	logits := []float32{nan, 1, -inf, 1.5, nan, -40}
	for _, temperature := range []float64{0, 1e-300, .3, 2} {
		for _, topP := range []float64{1e-9, .5, 1} {
			s := NewSampler(temperature, topP, 3)
			for range 200 {
				if id := s.Sample(logits); id != 1 && id != 3 {
					t.Fatalf("temperature %g, top_p %g: token %d", temperature, topP, id)
				}
			}
		}
	}
}

// Tokens before the broken logits count, what follows them does not.
func TestVerifyStopsAtNaN(t *testing.T) {
	good, bad := []float32{0, 0, 1}, []float32{float32(math.NaN()), float32(math.Inf(-1)), 0}
	bad[2] = bad[0]
	c := Chunk{Tokens: []int{7, 2, 2}, Drafts: 2, Sampler: NewSampler(0, 1, 0)}
	r := (&cpuRunner{}).verify(c, [][]float32{good, bad, good})
	if !slices.Equal(r.Tokens, []int{2}) || r.held() != 1 || !errors.Is(r.Err, errLogits) {
		t.Errorf("tokens %v, %d guesses held, %v", r.Tokens, r.held(), r.Err)
	}
	c.Tokens[1] = 1 // rejected: nobody looks at what follows it
	r = (&cpuRunner{}).verify(c, [][]float32{good, bad, good})
	if !slices.Equal(r.Tokens, []int{2}) || r.held() != 0 || r.Err != nil {
		t.Errorf("tokens %v, %d guesses held, %v", r.Tokens, r.held(), r.Err)
	}
}

// brokenRunner cannot tell the next token of sequences whose prompt is of so many
// letters, from their second token on.
type brokenRunner struct {
	*fakeRunner
	letters int
	block   int // the first of such a sequence
}

func (b *brokenRunner) Run(batch []Chunk) ([]Result, error) {
	out, err := b.fakeRunner.Run(batch)
	for n, c := range batch {
		if c.Start == 0 && len(c.Tokens) == b.letters+1 {
			b.block = c.Blocks[0]
		}
		if c.Start > 0 && c.Blocks[0] == b.block {
			out[n], b.block = Result{Err: errLogits}, -1 // another sequence will get the block
		}
	}
	return out, err
}

// A sequence with broken logits ends with an error; those beside it do not notice.
func TestBrokenLogits(t *testing.T) {
	for _, more := range []string{"", `,"stream":true`} {
		synctest.Test(t, func(t *testing.T) {
			e := startFake(t, func(c *Config, f *fakeRunner) {
				c.MaxBatchedTokens, c.NoPrefixCaching, c.Runner = 64, true, &brokenRunner{f, 5, -1}
			}) // every prompt in one chunk, from its first token
			defer e.stop()
			answers := make([]*httptest.ResponseRecorder, 3)
			over := make(chan int)
			for n := range answers {
				go func() {
					answers[n] = e.post(t.Context(), "/v1/completions", completion(3+2*n, 9, more))
					over <- n
				}()
			}
			for range answers {
				<-over
			}
			synctest.Wait()
			e.freed(t)
			for _, n := range []int{0, 2} {
				got := streamText(t, answers[n])
				if more == "" {
					got = *decodeBody[response](t, answers[n]).Choices[0].Text
				}
				if got != expected(3+2*n, 9) {
					t.Errorf("beside it: %q, want %q", got, expected(3+2*n, 9))
				}
			}
			w := answers[1]
			if data := events(w); more != "" && (len(data) != 3 || !strings.HasPrefix(data[1], `{"error":`) || data[2] != "[DONE]") {
				t.Errorf("events %q: want a token, the error, [DONE]", data)
			}
			if more == "" && w.Code != 500 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if n := counterValue(t, e, "vllm:corrupted_requests_total"); n != 1 {
				t.Errorf("%g counted as corrupted", n)
			}
			if n := counterValue(t, e, `vllm:request_success_total{finished_reason="error"}`); n != 1 {
				t.Errorf("%g counted as errors", n)
			}
		})
	}
}

// sickRunner is the real one, but the logits of whatever holds one token are broken.
type sickRunner struct {
	*cpuRunner
	bad int
}

func (r *sickRunner) Run(batch []Chunk) ([]Result, error) {
	out, err := r.cpuRunner.Run(batch)
	for n, c := range batch {
		if c.Sampler != nil && slices.Contains(c.Tokens, r.bad) {
			out[n] = Result{Err: errLogits}
		}
	}
	return out, err
}

// With a real model, too: one sequence ends, those that share its steps and take its
// blocks afterwards have their golden tokens, with guesses and without.
func TestSickSequence(t *testing.T) {
	const bad, tokens = 900, 24
	prompts := readGoldens(t).Prompts
	if raceEnabled {
		prompts = prompts[:2]
	}
	for _, c := range []Config{
		{}, {KVCacheType: "int8"}, {Speculative: SpeculateDraft}, {Speculative: SpeculateNgram}, {MaxNumSeqs: 3, MaxBatchedTokens: 20},
	} {
		c.NumBlocks, c.MaxQueue = 40, Unlimited
		var want [][]int
		seqs := sequences(prompts, 100, tokens, greedily)
		if c.KVCacheType != "" {
			want, _, _ = answerAll(t, c, sequences(prompts, 100, tokens, greedily))
		} else {
			want = goldenAnswers(prompts, 100, tokens)
		}
		sick := &Sequence{Prompt: slices.Concat(seqs[0].Prompt, []int{bad}), MaxTokens: tokens, IgnoreEOS: true, Sampler: NewSampler(1, .9, 1)}
		e, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		e.steps = &sickRunner{e.runner.(*cpuRunner), bad}
		got, _ := answerOn(t, e, slices.Insert(slices.Clone(seqs), 1, sick))
		if len(sick.Output) != 0 || counted(e.metrics.corrupted) != 1 {
			t.Errorf("speculation %q, KV %q: %d tokens of a sick sequence, %g counted", c.Speculative, c.KVCacheType, len(sick.Output), counted(e.metrics.corrupted))
		}
		same(t, "beside the sick one", slices.Delete(got, 1, 2), want)
	}
}
