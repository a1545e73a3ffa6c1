package host

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// BenchmarkTree reads a tree of 10 processes with 300 threads and one of a single process
// with 130. Its bounds are 1 and 2 ms of CPU.
func BenchmarkTree(b *testing.B) {
	for _, c := range []struct{ processes, threads int }{{10, 30}, {1, 130}, {40, 50}} {
		b.Run(fmt.Sprintf("%dx%d", c.processes, c.threads), func(b *testing.B) {
			for range c.processes {
				child(b, fmt.Sprintf("threads %d", c.threads))
			}
			p := NewProcess("/", fixed(os.Getpid()))
			defer p.Close()
			if _, err := p.Read(context.Background()); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			began := cpuTime()
			for b.Loop() {
				if _, err := p.Read(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime()-began)/float64(b.N)/1e3, "cpu-us/op")
		})
	}
}
