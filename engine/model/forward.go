package model

import (
	"fmt"
	"math"
)

// scratch is the space of one step, reused by the next.
type scratch struct {
	rows     []row
	longest  int       // positions of the longest sequence
	x        []float32 // [row][dim], the residual stream
	cos, sin []float32 // [row][rope pair]
	q, k, v  []float32
	up       []float32
	added    []float32 // what a block adds to x
	logits   []float32
	wanted   [][]float32 // the rows of logits
	normed   activations
	attended activations
	gate     activations
	scores   [][]float32 // by worker
}

// Forward computes one step for a batch of chunks of different sequences in a single
// pass: the weights are read once. It writes the keys and values of the chunks'
// tokens into the pool. The answer is the logits that are wanted, a row of Vocab
// numbers for each token: those of the first chunk in the order of its tokens, then
// those of the next. They are valid until the next Forward. On an error nothing has
// been computed, unless the model file went bad: then the chunks' blocks are
// undefined. A token's logits are the same bits whatever else is in the batch,
// however its sequence was cut into chunks and wherever its blocks lie.
func (m *Model) Forward(pool *KVPool, batch []Chunk) (_ [][]float32, err error) {
	defer guard(&err)()
	if err := pool.fits(m.config); err != nil {
		return nil, err
	}
	for i := range batch {
		if err := batch[i].check(&m.config, pool); err != nil {
			return nil, fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	m.start(batch, pool.blockSize)
	for i := range m.layers {
		m.block(pool, i)
	}
	return m.finish(), nil
}

// start lays out the rows of the step, their embeddings and their angles.
func (m *Model) start(batch []Chunk, blockSize int) {
	m.rows = m.rows[:0]
	m.longest = 1
	for _, c := range batch {
		for i, t := range c.Tokens {
			m.rows = append(m.rows, row{t, c.Start + i, c.Blocks, i >= len(c.Tokens)-c.Logits})
		}
		m.longest = max(m.longest, c.Start+len(c.Tokens))
	}
	c, n := &m.config, len(m.rows)
	pairs := len(m.frequency)
	m.resize(n)
	m.cos, m.sin = grow(m.cos, n*pairs), grow(m.sin, n*pairs)
	for t, r := range m.rows {
		m.embed.copyRow(r.token, m.x[t*c.Dim:(t+1)*c.Dim])
		for i, f := range m.frequency {
			sin, cos := math.Sincos(float64(r.position) * f)
			m.cos[t*pairs+i], m.sin[t*pairs+i] = float32(cos), float32(sin)
		}
	}
	for i := range m.scores {
		m.scores[i] = grow(m.scores[i], m.longest+blockSize)
	}
	m.k, m.v = grow(m.k, n*c.KVHeads*c.HeadDim), grow(m.v, n*c.KVHeads*c.HeadDim)
}

// resize fits the scratch space to a number of rows. Less keeps what is there.
func (m *Model) resize(n int) {
	c := &m.config
	m.rows = m.rows[:n]
	m.x, m.added = grow(m.x, n*c.Dim), grow(m.added, n*c.Dim)
	m.q, m.up = grow(m.q, n*c.Heads*c.HeadDim), grow(m.up, n*c.FFN)
	m.normed.resize(n, c.Dim)
	m.attended.resize(n, c.Heads*c.HeadDim)
	m.gate.resize(n, c.FFN)
}

// block is one transformer block: attention, then the feed-forward network.
func (m *Model) block(pool *KVPool, i int) {
	l := &m.layers[i]
	m.normRows(l.attnNorm)
	m.project(&m.normed, target{l.q, m.q}, target{l.k, m.k}, target{l.v, m.v})
	addBias(m.q, l.qb)
	addBias(m.k, l.kb)
	addBias(m.v, l.vb)
	m.place(pool, i)
	if i == len(m.layers)-1 {
		m.keepWanted()
	}
	m.attention(pool, i)
	m.project(&m.attended, target{l.o, m.added})
	m.addBlock()
	m.normRows(l.ffnNorm)
	m.project(&m.normed, target{l.gate, m.gate.x}, target{l.up, m.up})
	m.activate()
	m.project(&m.gate, target{l.down, m.added})
	m.addBlock()
}

// addBias adds a vector to every row, nothing where there is none.
func addBias(rows, bias []float32) {
	for ; len(bias) > 0 && len(rows) >= len(bias); rows = rows[len(bias):] {
		for i, b := range bias {
			rows[i] += b
		}
	}
}

// place turns queries and keys by their positions and stores keys and values.
func (m *Model) place(pool *KVPool, layer int) {
	c := &m.config
	pairs, queries, keys := len(m.frequency), c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	scale := float32(1 / math.Sqrt(float64(c.HeadDim)))
	for t, r := range m.rows {
		cos, sin := m.cos[t*pairs:(t+1)*pairs], m.sin[t*pairs:(t+1)*pairs]
		q, k := m.q[t*queries:(t+1)*queries], m.k[t*keys:(t+1)*keys]
		m.turn(q, cos, sin, c.HeadDim)
		m.turn(k, cos, sin, c.HeadDim)
		for i := range q {
			q[i] *= scale
		}
		pool.store(layer, r.blocks[r.position/pool.blockSize], r.position%pool.blockSize, k, m.v[t*keys:(t+1)*keys])
	}
}

// keepWanted drops all rows but those whose logits are wanted. After the last
// layer's keys and values are stored nothing depends on the others.
func (m *Model) keepWanted() {
	c := &m.config
	queries, n := c.Heads*c.HeadDim, 0
	for t, r := range m.rows {
		if !r.logits {
			continue
		}
		m.rows[n] = r
		copy(m.x[n*c.Dim:(n+1)*c.Dim], m.x[t*c.Dim:])
		copy(m.q[n*queries:(n+1)*queries], m.q[t*queries:])
		n++
	}
	m.resize(n)
}

// finish computes the logits of the rows that are left, one row each.
func (m *Model) finish() [][]float32 {
	vocab, n := m.config.Vocab, len(m.rows)
	m.logits, m.wanted = grow(m.logits, n*vocab), grow(m.wanted, n)
	m.normRows(m.lastNorm)
	m.project(&m.normed, target{m.output, m.logits})
	for i := range m.wanted {
		m.wanted[i] = m.logits[i*vocab : (i+1)*vocab : (i+1)*vocab]
	}
	return m.wanted
}

// target is a matrix and where its products go, [row][matrix row].
type target struct {
	weights matrix
	out     []float32
}

// projectGrain is the number of multiplications worth waking a worker for: about
// 20 microseconds of work against a few for the wake-up.
const projectGrain = 1 << 16

// project multiplies the same activations with several matrices, their rows shared
// out among the workers together.
func (m *Model) project(in *activations, targets ...target) {
	if in.n == 0 {
		return
	}
	total, quantised := 0, false
	for _, t := range targets {
		rows, _ := t.weights.shape()
		total += rows
		quantised = quantised || t.weights.quantised()
	}
	if quantised {
		in.quantise(m.work)
	}
	m.work.run(total, tile+projectGrain/(in.n*in.cols)/tile*tile, func(_, lo, hi int) {
		for _, t := range targets {
			rows, _ := t.weights.shape()
			if from, to := max(lo, 0), min(hi, rows); from < to {
				t.weights.mul(in, t.out, from, to)
			}
			lo, hi = lo-rows, hi-rows
		}
	})
}

// rowGrain is the number of elements worth waking a worker for in simple loops.
const rowGrain = 1 << 14

// normRows fills normed from the residual stream.
func (m *Model) normRows(weight []float32) {
	d := m.config.Dim
	m.work.run(len(m.rows), 1+rowGrain/d, func(_, lo, hi int) {
		for t := lo; t < hi; t++ {
			norm(m.normed.row(t), m.x[t*d:(t+1)*d], weight, m.config.NormEps)
		}
	})
}

// addBlock adds a block's result to the residual stream.
func (m *Model) addBlock() {
	added := m.added[:len(m.x)]
	for i := range m.x {
		m.x[i] += added[i]
	}
}

// activate is the SwiGLU of the feed-forward network, in place in gate.
func (m *Model) activate() {
	m.work.run(len(m.up), rowGrain/4, func(_, lo, hi int) { swiglu(m.gate.x[lo:hi], m.up[lo:hi]) })
}
