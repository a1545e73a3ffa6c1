package engine

import (
	"fmt"

	"llmtop/engine/model"
	"llmtop/engine/tokenizer"
)

// cpuRunner is the real forward pass, on the CPU.
type cpuRunner struct {
	model  *model.Model
	pool   *model.KVPool
	chunks []model.Chunk // scratch
	out    []Result      // scratch
	tokens []int         // scratch: what the results refer to
}

// newCPURunner loads the model that the configuration names.
func newCPURunner(c Config) (Runner, Tokenizer, error) {
	file, err := openModel(c.ModelPath)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() // the model keeps what it needs
	vocab, err := file.Vocab()
	if err != nil {
		return nil, nil, fmt.Errorf("reading the vocabulary: %w", err)
	}
	t, err := tokenizer.New(vocab)
	if err != nil {
		return nil, nil, fmt.Errorf("building the tokenizer: %w", err)
	}
	m, err := model.Load(file, model.Options{Threads: c.Threads})
	if err != nil {
		return nil, nil, fmt.Errorf("loading the weights: %w", err)
	}
	if need := model.KVBytes(m.Config(), c.NumBlocks*c.BlockSize); need > maxKVBytes {
		m.Close()
		return nil, nil, fmt.Errorf("num_blocks is %d: the KV cache would take %d bytes, more than %d", c.NumBlocks, need, int64(maxKVBytes))
	}
	return &cpuRunner{model: m, pool: model.NewKVPool(m.Config(), c.NumBlocks, c.BlockSize)}, vocabulary{t}, nil
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

// Run computes the chunks in one pass and samples where a token is wanted.
func (r *cpuRunner) Run(batch []Chunk) ([]Result, error) {
	r.chunks, r.tokens, r.out = r.chunks[:0], r.tokens[:0], r.out[:0]
	for _, c := range batch {
		r.chunks = append(r.chunks, model.Chunk{Tokens: c.Tokens, Start: c.Start, Blocks: c.Blocks, Logits: c.Sampler != nil})
	}
	logits, err := r.model.Forward(r.pool, r.chunks)
	if err != nil {
		return nil, fmt.Errorf("computing a step: %w", err)
	}
	for i, c := range batch {
		from := len(r.tokens)
		if c.Sampler != nil {
			r.tokens = append(r.tokens, c.Sampler.Sample(logits[i]))
		}
		r.out = append(r.out, Result{Tokens: r.tokens[from:len(r.tokens):len(r.tokens)]})
	}
	return r.out, nil
}

// Close ends the threads of the forward pass.
func (r *cpuRunner) Close() error {
	r.model.Close()
	return nil
}

// vocabulary is a tokenizer.Tokenizer as the engine sees it.
type vocabulary struct{ *tokenizer.Tokenizer }

func (v vocabulary) Begin() []int {
	if id, add := v.BOS(); add {
		return []int{id}
	}
	return nil
}

func (v vocabulary) NewDecoder() Decoder { return tokenizer.NewDecoder(v.Tokenizer) }
