package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkSchedulingShare decodes 256 sequences of the real model and tells how much
// of the steps' time is not the runner's.
func BenchmarkSchedulingShare(b *testing.B) {
	const sequences, steps = 256, 50
	e, err := New(Config{MaxNumSeqs: sequences, MaxBatchedTokens: 512, NumBlocks: sequences * 8, MaxQueue: Unlimited})
	if err != nil {
		b.Fatal(err)
	}
	defer e.stop()
	var overhead, whole float64
	for b.Loop() {
		jobs := startDecoding(b, e, sequences, steps)
		before := partSeconds(b, e)
		for range steps {
			e.step()
		}
		after := partSeconds(b, e)
		for p := range after {
			whole += after[p] - before[p]
			if p != partNames[partCompute] {
				overhead += after[p] - before[p]
			}
		}
		for _, j := range jobs {
			e.cancel(j)
		}
		e.takeCommands()
	}
	b.ReportMetric(100*overhead/whole, "%scheduling")
	b.ReportMetric(1000*whole/float64(b.N*steps), "ms/step")
}

// startDecoding brings so many sequences to their decode, with room for so many more tokens.
func startDecoding(b *testing.B, e *Engine, sequences, steps int) (jobs []*job) {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for range sequences {
		q := &Sequence{MaxTokens: steps + 20, IgnoreEOS: true, Sampler: NewSampler(0, 1, 0)}
		for range 16 + rng.IntN(32) {
			q.Prompt = append(q.Prompt, 3+rng.IntN(e.shape.Vocab-3))
		}
		j := newJob(q, e.log.open("id", time.Now()), e.queue.enter(Normal))
		e.submit(j)
		jobs = append(jobs, j)
	}
	e.takeCommands()
	for e.scheduler.Waiting() > 0 {
		e.step()
	}
	e.step()
	for _, j := range jobs {
		if !j.seq.decoding() {
			b.Fatalf("a sequence has %d of %d tokens computed", j.seq.Computed(), j.seq.Len())
		}
	}
	return jobs
}

// partSeconds is the time that each part of the steps has taken so far.
func partSeconds(b *testing.B, e *Engine) map[string]float64 {
	b.Helper()
	families, err := e.metrics.registry.Gather()
	if err != nil {
		b.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "llmtop:step_part_seconds" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "part" {
					out[l.GetValue()] = m.GetHistogram().GetSampleSum()
				}
			}
		}
	}
	return out
}

// BenchmarkEnqueue adds a sequence to the queue and takes another out of it, from
// anywhere, as clients come and go.
func BenchmarkEnqueue(b *testing.B) {
	for _, waiting := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			s, err := NewScheduler(Limits{MaxNumSeqs: 1, MaxBatchedTokens: 16}, NewBlockManager(64, 16, true))
			if err != nil {
				b.Fatal(err)
			}
			queue := make([]*Sequence, waiting)
			add := func(i int) {
				queue[i] = &Sequence{Prompt: []int{1, 2, 3}, MaxTokens: 8, Class: Realtime + Class(i%NumClasses)}
				if err := s.Add(queue[i]); err != nil {
					b.Fatal(err)
				}
			}
			for i := range queue {
				add(i)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				i := rng.IntN(waiting)
				s.Finish(queue[i])
				add(i)
			}
			if s.Waiting() != waiting {
				b.Fatalf("%d wait, want %d", s.Waiting(), waiting)
			}
		})
	}
}
