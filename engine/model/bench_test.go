//go:build unix

package model

import (
	"fmt"
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
