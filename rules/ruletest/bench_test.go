package ruletest

import (
	"testing"

	"llmtop/probes"
	"llmtop/rules"
)

// benchmark measures Observe after ten minutes of the script.
func benchmark(b *testing.B, s *script) {
	w, d := newWorld(s), rules.NewDiagnoser(book(b), rules.Options{})
	for range 600 {
		d.Observe(w.next())
	}
	var samples []*probes.Sample
	b.ReportAllocs()
	for b.Loop() {
		if len(samples) == 0 {
			b.StopTimer()
			for range 60 {
				samples = append(samples, w.next())
			}
			b.StartTimer()
		}
		d.Observe(samples[0])
		samples = samples[1:]
	}
}
