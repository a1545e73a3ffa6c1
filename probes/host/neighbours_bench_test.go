package host

import (
	"context"
	"os"
	"testing"
	"time"
)

// BenchmarkNeighbours looks at all processes of this machine, this one taken for an engine.
func BenchmarkNeighbours(b *testing.B) {
	n := NewNeighbours("/", func() []int { return []int{os.Getppid()} })
	b.ReportAllocs()
	began := cpuTime()
	for b.Loop() {
		n.next = time.Time{}
		if _, err := n.Read(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-began)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(len(n.last)), "processes")
}
