package twin

import (
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/workload"
)

// BenchmarkDay runs an hour of a day of one engine at 50 requests a second.
func BenchmarkDay(b *testing.B) {
	sc := plain()
	sc.Limits = engine.Limits{MaxNumSeqs: 256, MaxBatchedTokens: 8192}
	sc.TP, sc.GPUs = 8, 8
	var tally Tally
	begun := cpuTime()
	for b.Loop() {
		s := begin(b, sc, func(p *Parts) {
			p.Blocks = 80_000
			p.Models = []cost.Model{&cost.Linear{Base: 9 * time.Millisecond, Prefill: 11 * time.Microsecond, Decode: 20 * time.Microsecond, Context: 400}}
			p.Source = poisson(7, 50, 1<<40, func(r *rand.Rand, q *workload.Request) {
				q.Prompt = 1 + int(min(8000, 600*lognormal(r, 0.8)))
				q.Output = 1 + int(min(2000, 150*lognormal(r, 0.8)))
				q.Bytes = 4 * q.Prompt
				q.Prefix = append(q.Prefix[:0], workload.Segment{ID: uint64(r.IntN(20)), Tokens: min(200, q.Prompt-1)})
			})
		})
		for at := time.Duration(0); at < time.Hour; {
			at += time.Second
			if err := s.Advance(at); err != nil {
				b.Fatal(err)
			}
			s.Requests(0, "x")
			s.GPULoads(0)
			s.HostLoad(0)
			s.State(0)
		}
		tally = s.Tally()
	}
	cpu := cpuTime() - begun // other processes do not count
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(tally.Sampled)/float64(b.N), "cpu-ns/token")
	b.ReportMetric(3600*float64(b.N)/cpu.Seconds(), "virtual-s/cpu-s")
	b.ReportMetric(float64(tally.Sampled)/float64(tally.Steps), "tokens/step")
	b.ReportMetric(float64(tally.Finished)/3600, "requests/s")
}

// cpuTime is what this process has used of the CPUs.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func lognormal(r *rand.Rand, sigma float64) float64 { return math.Exp(sigma * r.NormFloat64()) }
