package model

import (
	"fmt"
	"math"
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
	frequency []float64
	work      *workers
	scratch
}

// Load unpacks the weights of a llama model. It is an error if a tensor is missing
// or has another shape than the metadata says. Close ends the model's goroutines.
func Load(f *File, o Options) (*Model, error) {
	c, err := f.Config()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	m := &Model{config: c, frequency: make([]float64, c.RopeDim/2)}
	for i := range m.frequency {
		m.frequency[i] = math.Pow(c.RopeBase, -2*float64(i)/float64(c.RopeDim))
	}
	if err := m.weights(&weights{file: f}); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	m.work = newWorkers(o.Threads)
	m.scores = make([][]float32, m.work.threads)
	return m, nil
}

// Config is the shape of the model.
func (m *Model) Config() Config { return m.config }

// Close ends the goroutines of the model, which must not be used after it.
func (m *Model) Close() { m.work.close() }

// weights reads tensors by name; the first error sticks.
type weights struct {
	file *File
	err  error
}

func (w *weights) vector(name string, n int) []float32 {
	v, err := w.file.vector(name, n)
	if w.err == nil {
		w.err = err
	}
	return v
}

func (w *weights) matrix(name string, rows, cols int) matrix {
	if w.err != nil {
		return nil
	}
	m, err := w.file.matrix(name, rows, cols)
	w.err = err
	return m
}

func (m *Model) weights(w *weights) error {
	c := &m.config
	m.embed = w.matrix("token_embd.weight", c.Vocab, c.Dim)
	for i := 0; i < c.Layers && w.err == nil; i++ {
		m.layers = append(m.layers, readLayer(w, c, fmt.Sprintf("blk.%d.", i)))
	}
	m.lastNorm = w.vector("output_norm.weight", c.Dim)
	m.output = m.embed
	if _, untied := w.file.tensors["output.weight"]; untied {
		m.output = w.matrix("output.weight", c.Vocab, c.Dim)
	}
	if _, scaled := w.file.tensors["rope_freqs.weight"]; scaled {
		for i, s := range w.vector("rope_freqs.weight", c.RopeDim/2) {
			m.frequency[i] /= float64(s)
		}
	}
	return w.err
}

func readLayer(w *weights, c *Config, prefix string) layer {
	queries, keys := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	return layer{
		attnNorm: w.vector(prefix+"attn_norm.weight", c.Dim),
		q:        w.matrix(prefix+"attn_q.weight", queries, c.Dim),
		k:        w.matrix(prefix+"attn_k.weight", keys, c.Dim),
		v:        w.matrix(prefix+"attn_v.weight", keys, c.Dim),
		o:        w.matrix(prefix+"attn_output.weight", c.Dim, queries),
		ffnNorm:  w.vector(prefix+"ffn_norm.weight", c.Dim),
		gate:     w.matrix(prefix+"ffn_gate.weight", c.FFN, c.Dim),
		up:       w.matrix(prefix+"ffn_up.weight", c.FFN, c.Dim),
		down:     w.matrix(prefix+"ffn_down.weight", c.Dim, c.FFN),
	}
}
