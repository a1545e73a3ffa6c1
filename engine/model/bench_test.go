//go:build unix

package model

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// clock measures a benchmark by wall time and by the CPU time of the process, which
// neighbours on a busy machine disturb less.
type clock struct{ cpu time.Duration }

func startClock() clock { return clock{cpuTime()} }

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// report adds tokens a second and Gop/s (by wall time and for each core used),
// counting a multiplication and an addition for every weight of the matrices that a
// token passes. Attention is in the time, not in the operations.
func (c clock) report(b *testing.B, m *Model, tokens int) {
	n := float64(b.N) * float64(tokens)
	ops := 2 * float64(m.config.Parameters) / 1e9
	b.ReportMetric(n/b.Elapsed().Seconds(), "tokens/s")
	b.ReportMetric(n*ops/b.Elapsed().Seconds(), "Gop/s")
	b.ReportMetric(n*ops/(cpuTime()-c.cpu).Seconds(), "Gop/s/core")
}

// BenchmarkDecode is a step of one token for each of several sequences at position 255.
func BenchmarkDecode(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, n := range []int{1, 2, 8, 16} {
			b.Run(fmt.Sprintf("threads=%d/batch=%d", threads, n), func(b *testing.B) {
				m := shipped(b, threads)
				pool := NewKVPool(m.Config(), 16*n, 16, KVFloat32)
				batch := make([]Chunk, n)
				for i := range batch {
					batch[i] = Chunk{Tokens: []int{300 + i}, Start: 255, Blocks: sequence(16*i, 16), Logits: 1}
				}
				c := startClock()
				for b.Loop() {
					if _, err := m.Forward(pool, batch); err != nil {
						b.Fatal(err)
					}
				}
				c.report(b, m, n)
			})
		}
	}
}

// BenchmarkPrefill is a prompt of 256 tokens in one chunk.
func BenchmarkPrefill(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			m := shipped(b, threads)
			pool := NewKVPool(m.Config(), 16, 16, KVFloat32)
			batch := []Chunk{{Tokens: sequence(300, 256), Blocks: sequence(0, 16), Logits: 1}}
			c := startClock()
			for b.Loop() {
				if _, err := m.Forward(pool, batch); err != nil {
					b.Fatal(err)
				}
			}
			c.report(b, m, 256)
		})
	}
}

// BenchmarkMatrix multiplies a matrix of each type with one token, as decoding does,
// and with 16, in one thread.
func BenchmarkMatrix(b *testing.B) {
	const rows, cols = 512, 2048
	rng := rand.New(rand.NewPCG(1, 1))
	work := newWorkers(1)
	for _, typ := range allTypes {
		m := newMatrix(tensor{typ: typ, rows: rows, cols: cols, data: randomRows(rng, typ, rows, cols)})
		for _, n := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/tokens=%d", kindOf(typ).name, n), func(b *testing.B) {
				var in activations
				in.resize(n, cols)
				for i := range in.x {
					in.x[i] = float32(rng.NormFloat64())
				}
				in.quantise(work)
				out := make([]float32, n*rows)
				c := startClock()
				for b.Loop() {
					m.mul(&in, out, 0, rows)
				}
				ops := 2 * float64(b.N) * float64(n) * rows * cols / 1e9
				b.ReportMetric(ops/b.Elapsed().Seconds(), "Gop/s")
				b.ReportMetric(ops/(cpuTime()-c.cpu).Seconds(), "Gop/s/core")
			})
		}
	}
}

// BenchmarkLoad opens and loads a file of about 100 MB (half of that as Q4_K).
func BenchmarkLoad(b *testing.B) {
	large := Config{Dim: 1024, Layers: 8, Heads: 16, KVHeads: 4, HeadDim: 64, FFN: 2816, Vocab: 8192, Context: 64, RopeDim: 64}
	for _, typ := range []uint32{tensorQ8_0, tensorQ4_K} {
		b.Run(kindOf(typ).name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "large.gguf")
			data := modelFile(large, typ, 1)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				f, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				m, err := Load(f, Options{Threads: 1})
				if err != nil {
					b.Fatal(err)
				}
				m.Close()
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
