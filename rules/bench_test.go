package rules_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// BenchmarkDiagnose is one tick at 1 Hz of a full sample (a page of 700 series, 8 GPUs,
// 20 requests finished) once ten minutes are behind it, healthy and in an incident
// whose rules hold: by per-request records, by the page's histograms alone, and with
// three times the requests. heap is what the fold keeps alive, samples included.
//
//	go test -run xxx -bench Diagnose ./rules
func BenchmarkDiagnose(b *testing.B) {
	for _, c := range []struct {
		name    string
		records bool
		all     bool    // readings of GPUs, host and processes that the best of hosts gives
		rate    float64 // after the warm-up
		slow    float64
	}{
		{"records/healthy", true, false, 20, 1},
		{"records/backlog", true, false, 20, 2.9},
		{"records/backlog-60", true, false, 60, 1},
		{"page/healthy", false, false, 20, 1},
		{"page/backlog", false, false, 20, 2.9},
		{"everything/healthy", true, true, 20, 1},
		{"everything/backlog", true, true, 20, 2.9},
	} {
		b.Run(c.name, func(b *testing.B) {
			before := liveHeap()
			s, d := newFullSim(1, 20, c.records), diagnoser(b)
			s.all = c.all
			n := 0
			for ; n < 600; n++ {
				d.Observe(s.sample(n + 1))
			}
			s.rate, s.slow = c.rate, c.slow
			for ; n < 660; n++ {
				d.Observe(s.sample(n + 1))
			}
			heap := float64(liveHeap()-before) / (1 << 20)
			measure(b, d, func() *probes.Sample { n++; return s.sample(n) })
			b.ReportMetric(heap, "MiB-heap")
		})
	}
}

// measure folds samples that were made while the clock stood still.
func measure(b *testing.B, d *rules.Diagnoser, next func() *probes.Sample) {
	samples := make([]*probes.Sample, 60)
	var cpu, began time.Duration
	folded, i := 0, len(samples)
	b.ReportAllocs()
	for b.Loop() {
		if i == len(samples) {
			b.StopTimer()
			if began > 0 {
				cpu += cpuTime() - began
			}
			for j := range samples {
				samples[j] = next()
			}
			i, began = 0, cpuTime()
			b.StartTimer()
		}
		d.Observe(samples[i])
		folded++
		i++
	}
	cpu += cpuTime() - began
	b.ReportMetric(float64(cpu.Microseconds())/float64(folded), "µs-CPU/sample")
	b.ReportMetric(float64(folded)/cpu.Seconds(), "samples/s-CPU")
}

// cpuTime is what the process took so far on all cores: the collector of garbage counts.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
