package engine

import (
	"fmt"

	"llmtop/engine/model"
)

// cpuRunner is the real forward pass, on the CPU.
type cpuRunner struct {
	model  *model.Model
	pool   *model.KVPool
	draft  *draftProposer // nil: none
	budget Budget
	chunks []model.Chunk // scratch
	out    []Result      // scratch
	tokens []int         // scratch: what the results refer to
	probs  []Logprobs    // likewise
}

// newCPURunner loads the model that the configuration names.
func newCPURunner(c Config) (Runner, words, error) {
	file, err := openModel(c.ModelPath)
	if err != nil {
		return nil, words{}, err
	}
	defer file.Close() // the model keeps what it needs
	w, err := readWords(file)
	if err != nil {
		return nil, words{}, err
	}
	m, err := model.Load(file, model.Options{Threads: c.Threads})
	if err != nil {
		return nil, words{}, fmt.Errorf("loading the weights: %w", err)
	}
	r := &cpuRunner{model: m}
	if err := r.prepare(c, file); err != nil {
		r.Close()
		return nil, words{}, err
	}
	return r, w, nil
}

// prepare makes what a step needs beside the model, as far as the memory allows.
func (r *cpuRunner) prepare(c Config, file *model.File) error {
	kv, err := model.ParseKVType(c.KVCacheType)
	if err != nil {
		return err
	}
	models := []usedModel{{r.model, c.MaxBatchedTokens, c.MaxNumSeqs * (1 + c.drafts())}}
	var draft *model.Model
	if c.Speculative == SpeculateDraft {
		if draft, err = openDraft(c, file); err != nil {
			return fmt.Errorf("loading the draft model: %w", err)
		}
		models = append(models, usedModel{draft, c.MaxBatchedTokens + c.MaxNumSeqs, c.MaxNumSeqs})
	}
	if r.budget, err = newBudget(c, kv, models...); err != nil {
		if draft != nil {
			draft.Close()
		}
		return err
	}
	r.pool = model.NewKVPool(r.model.Config(), c.NumBlocks, c.BlockSize, kv)
	if draft != nil {
		r.draft = newDraftProposer(draft, c, kv)
	}
	return nil
}

func openModel(path string) (*model.File, error) {
	if path == "" {
		return model.Parse(model.Oncall())
	}
	return model.Open(path)
}

// Shape tells the model's context and vocabulary.
func (r *cpuRunner) Shape() Shape {
	c := r.model.Config()
	return Shape{Context: c.Context, Vocab: c.Vocab}
}

// Run computes the chunks in one pass and samples where tokens are wanted.
func (r *cpuRunner) Run(batch []Chunk) ([]Result, error) {
	r.chunks, r.tokens, r.probs, r.out = r.chunks[:0], r.tokens[:0], r.probs[:0], r.out[:0]
	for _, c := range batch {
		r.chunks = append(r.chunks, model.Chunk{Tokens: c.Tokens, Start: c.Start, Blocks: c.Blocks, Logits: c.wanted()})
	}
	logits, err := r.model.Forward(r.pool, r.chunks)
	if err != nil {
		return nil, fmt.Errorf("computing a step: %w", err)
	}
	for _, c := range batch {
		r.out = append(r.out, r.verify(c, logits[:c.wanted()]))
		logits = logits[c.wanted():]
	}
	return r.out, nil
}

// wanted is how many of a chunk's last tokens need logits: the last that is sure,
// and the guesses after it.
func (c Chunk) wanted() int {
	if c.Sampler == nil {
		return 0
	}
	return 1 + c.Drafts
}

// verify picks a token after the last sure one, and after each guess as long as
// the guess is what was picked. The Sampler draws once for each token, as it would
// without guesses, so that they do not show in what it picks.
func (r *cpuRunner) verify(c Chunk, logits [][]float32) Result {
	from, first, guesses := len(r.tokens), len(r.probs), c.Tokens[len(c.Tokens)-c.Drafts:]
	result := func(err error) Result {
		return Result{Tokens: r.tokens[from:len(r.tokens):len(r.tokens)], Logprobs: r.probs[first:len(r.probs):len(r.probs)], Err: err}
	}
	for n, l := range logits {
		if !sound(l) {
			return result(errLogits)
		}
		token := c.Sampler.Sample(l)
		r.tokens = append(r.tokens, token)
		r.probs = c.Sampler.AppendLogprobs(r.probs, l, token)
		if n == len(guesses) || token != guesses[n] {
			break
		}
	}
	return result(nil)
}

// Close ends the threads of the forward pass.
func (r *cpuRunner) Close() error {
	r.model.Close()
	if r.draft != nil {
		r.draft.model.Close()
	}
	return nil
}
