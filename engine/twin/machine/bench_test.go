package machine_test

import "testing"

// Of a host with 64 cores and two engines of four GPUs each.
func BenchmarkAdvance(b *testing.B) {
	w := newWorld(b, config())
	b.ReportAllocs()
	for b.Loop() {
		w.advance()
	}
}

func BenchmarkSections(b *testing.B) {
	w := newWorld(b, config())
	b.ReportAllocs()
	for b.Loop() {
		w.advance()
		w.sample()
	}
}
