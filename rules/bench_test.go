package rules_test

import (
	"testing"

	"llmtop/probes"
)

// BenchmarkObserve is one tick at 1 Hz with a full ten-minute window, 20 requests
// per second and records of each.
func BenchmarkObserve(b *testing.B) {
	for _, c := range []struct {
		name string
		rate float64
	}{{"healthy", 20}, {"backlog", 60}} {
		b.Run(c.name, func(b *testing.B) {
			s, d := newSim(1, 20), diagnoser(b)
			n := 0
			for n < 600 {
				n++
				d.Observe(s.sample(n))
			}
			s.rate = c.rate
			samples := make([]*probes.Sample, 60)
			b.ReportAllocs()
			i := len(samples)
			for b.Loop() {
				if i == len(samples) {
					b.StopTimer()
					for j := range samples {
						n++
						samples[j] = s.sample(n)
					}
					i = 0
					b.StartTimer()
				}
				d.Observe(samples[i])
				i++
			}
		})
	}
}
