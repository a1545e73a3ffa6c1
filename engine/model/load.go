package model

import (
	"fmt"
	"maps"
	"slices"
)

// Options of a loaded model.
type Options struct {
	// Threads is the number of cores one forward pass uses; 0 means GOMAXPROCS.
	Threads int
}

// layer is the weights of one transformer block.
type layer struct {
	attnNorm, ffnNorm []float32
	q, k, v, o        matrix
	qb, kb, vb        []float32 // biases, nil where the model has none
	gate, up, down    matrix
}

// Model is a loaded model with the scratch space of one forward pass. It is not
// safe for concurrent use.
type Model struct {
	config    Config
	embed     matrix
	layers    []layer
	lastNorm  []float32
	output    matrix // the embedding again where the file has no output.weight
	turn      func(x, cos, sin []float32, headDim int)
	frequency []float64
	work      *workers
	mapped    *mapping
	scratch
}

// Load makes the model of a file computable. It is an error if a tensor is missing
// or has another shape than the metadata says. Matrices stay where the file's bytes
// are. Close ends the model's goroutines.
func Load(f *File, o Options) (_ *Model, err error) {
	defer guard(&err)()
	if f.closed {
		return nil, fmt.Errorf("%s: the file is closed", f.name)
	}
	c, err := f.Config()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	m := &Model{config: c, turn: archOf(c.Arch).turn, frequency: frequencies(&c)}
	if err := m.weights(&weights{file: f, used: map[string]bool{}}); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	m.mapped = f.mapped.hold()
	m.work = newWorkers(o.Threads)
	m.scores = make([][]float32, m.work.threads)
	return m, nil
}

// Config is the shape of the model.
func (m *Model) Config() Config { return m.config }

// Close ends the goroutines of the model, which must not be used after it, and lets go
// of the mapped file. It must be called once.
func (m *Model) Close() {
	m.work.close()
	_ = m.mapped.release() // fails only for memory that is not mapped
}

// weights reads tensors by name; the first error sticks.
type weights struct {
	file *File
	used map[string]bool
	err  error
}

func (w *weights) vector(name string, n int) []float32 {
	if w.err != nil {
		return nil
	}
	w.used[name] = true
	v, err := w.file.vector(name, n)
	w.err = err
	return v
}

// has tells whether the file has a tensor that not all models have.
func (w *weights) has(name string) bool {
	_, ok := w.file.tensors[name]
	return ok
}

// bias is a vector that may be missing unless the architecture always has it.
func (w *weights) bias(name string, n int, must bool) []float32 {
	if !must && !w.has(name) {
		return nil
	}
	return w.vector(name, n)
}

func (w *weights) matrix(name string, rows, cols int) matrix {
	if w.err != nil {
		return nil
	}
	w.used[name] = true
	m, err := w.file.matrix(name, rows, cols)
	w.err = err
	return m
}

// unused refuses a tensor that nothing has asked for: without it the result would
// be that of another model.
func (w *weights) unused() error {
	for _, name := range slices.Sorted(maps.Keys(w.file.tensors)) {
		if !w.used[name] {
			return fmt.Errorf("tensor %s is not part of a model of this architecture", printable(name))
		}
	}
	return nil
}

func (m *Model) weights(w *weights) error {
	c := &m.config
	m.embed = w.matrix("token_embd.weight", c.Vocab, c.Dim)
	for i := 0; i < c.Layers && w.err == nil; i++ {
		m.layers = append(m.layers, readLayer(w, c, fmt.Sprintf("blk.%d.", i)))
	}
	m.lastNorm = w.vector("output_norm.weight", c.Dim)
	m.output = m.embed
	if w.has("output.weight") {
		m.output = w.matrix("output.weight", c.Vocab, c.Dim)
	}
	var factors []float32
	if w.has("rope_freqs.weight") {
		factors = w.vector("rope_freqs.weight", c.RopeDim/2)
	}
	if w.err != nil {
		return w.err
	}
	return firstOf([]error{slow(m.frequency, factors), w.unused()})
}

func readLayer(w *weights, c *Config, prefix string) layer {
	queries, keys, biased := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim, archOf(c.Arch).biased
	return layer{
		attnNorm: w.vector(prefix+"attn_norm.weight", c.Dim),
		q:        w.matrix(prefix+"attn_q.weight", queries, c.Dim),
		k:        w.matrix(prefix+"attn_k.weight", keys, c.Dim),
		v:        w.matrix(prefix+"attn_v.weight", keys, c.Dim),
		o:        w.matrix(prefix+"attn_output.weight", c.Dim, queries),
		qb:       w.bias(prefix+"attn_q.bias", queries, biased),
		kb:       w.bias(prefix+"attn_k.bias", keys, biased),
		vb:       w.bias(prefix+"attn_v.bias", keys, biased),
		ffnNorm:  w.vector(prefix+"ffn_norm.weight", c.Dim),
		gate:     w.matrix(prefix+"ffn_gate.weight", c.FFN, c.Dim),
		up:       w.matrix(prefix+"ffn_up.weight", c.FFN, c.Dim),
		down:     w.matrix(prefix+"ffn_down.weight", c.Dim, c.FFN),
	}
}
