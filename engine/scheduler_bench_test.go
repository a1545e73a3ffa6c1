package engine

import (
	"fmt"
	"testing"
	"time"
)

// What the scheduler and the block manager cost: the time of an output token, which
// is one sequence in one step. Prompts and admissions are in it as well.
func BenchmarkScheduler(b *testing.B) {
	for _, c := range []benchLoad{
		{name: "decode", running: 16, blocks: 80_000, prompt: 16, answer: 2000, noCache: true},
		{name: "decode", running: 128, blocks: 80_000, prompt: 16, answer: 2000, noCache: true},
		{name: "decode", running: 512, blocks: 80_000, prompt: 16, answer: 2000, noCache: true},
		{name: "decode and keep", running: 128, blocks: 80_000, prompt: 16, answer: 2000},
		{name: "mixed", running: 128, blocks: 80_000, prompt: 500, answer: 200},
		{name: "mixed", running: 256, blocks: 80_000, prompt: 500, answer: 200},
		{name: "mixed without cache", running: 128, blocks: 80_000, prompt: 500, answer: 200, noCache: true},
		{name: "shared prefixes", running: 128, blocks: 80_000, prompt: 500, answer: 200, shared: 400},
		{name: "three classes", running: 128, blocks: 80_000, prompt: 500, answer: 200, classes: true},
		{name: "preemptions", running: 128, blocks: 128 * 32, prompt: 300, answer: 400},
	} {
		b.Run(fmt.Sprintf("%s/%d", c.name, c.running), c.run)
	}
}

// benchLoad keeps so many sequences running, each of a prompt of its own but for the
// first shared tokens.
type benchLoad struct {
	name                   string
	running, blocks        int
	prompt, shared, answer int // tokens; the answer's on average
	noCache, classes       bool

	scheduler *Scheduler
	entered   int
	spare     []*Sequence
}

func (l benchLoad) run(b *testing.B) {
	l.begin(b)
	for warm := 0; warm < 3*l.blocks*16; { // until blocks are used again
		tokens, _ := l.step(b)
		warm += tokens * (l.answer + l.prompt) / l.answer
	}
	var preempted, tokens int
	b.ReportAllocs()
	b.ResetTimer()
	steps := 0
	for ; tokens < b.N; steps++ {
		t, p := l.step(b)
		tokens, preempted = tokens+t, preempted+p
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
	b.ReportMetric(float64(preempted)/float64(steps), "preemptions/step")
}

func (l *benchLoad) begin(t testing.TB) {
	s, err := NewScheduler(Limits{MaxNumSeqs: l.running, MaxBatchedTokens: 8192}, NewBlockManager(l.blocks, 16, !l.noCache))
	if err != nil {
		t.Fatal(err)
	}
	l.scheduler = s
}

func (l *benchLoad) step(t testing.TB) (tokens, preempted int) {
	s := l.scheduler
	for s.Running()+s.Waiting() < l.running {
		if err := s.Add(l.next()); err != nil {
			t.Fatal(err)
		}
	}
	step := s.Schedule(time.Time{})
	for _, i := range step.Items {
		samples := i.Samples()
		s.Computed(i, 0)
		if !samples {
			continue
		}
		tokens++
		q := i.Seq
		if q.Output = append(q.Output, len(q.Output)); len(q.Output) == q.MaxTokens {
			s.Finish(q)
			l.spare = append(l.spare, q)
		}
	}
	return tokens, len(step.Preempted)
}

// next is a new sequence in the memory of one that has ended.
func (l *benchLoad) next() *Sequence {
	var q *Sequence
	if n := len(l.spare); n > 0 {
		q, l.spare = l.spare[n-1], l.spare[:n-1]
		*q = Sequence{Prompt: q.Prompt, Output: q.Output[:0]}
	} else {
		q = &Sequence{Prompt: make([]int, l.prompt), Output: make([]int, 0, 3*l.answer/2)}
	}
	q.MaxTokens = l.answer/2 + l.entered*7919%l.answer // so that they end one by one
	for i := range q.Prompt {
		q.Prompt[i] = i
		if i >= l.shared {
			q.Prompt[i] += l.entered % 50_000
		}
	}
	if l.classes {
		q.Class = Realtime + Class(l.entered%NumClasses)
	}
	l.entered++
	return q
}
