package engine

import (
	"testing"
	"time"
)

// drive runs a scheduler until it has nothing to do, at most so many steps, and says how many.
func drive(s *Scheduler, most int) (steps int) {
	for steps < most {
		step := s.Schedule(time.Time{})
		if len(step.Items) == 0 {
			break
		}
		steps++
		for _, i := range step.Items {
			samples := i.Samples()
			s.Computed(i, 0)
			if !samples {
				continue
			}
			i.Seq.Output = append(i.Seq.Output, 7)
			if len(i.Seq.Output) == i.Seq.MaxTokens {
				s.Finish(i.Seq)
			}
		}
	}
	return steps
}

func TestSchedulerRetune(t *testing.T) {
	limits := Limits{MaxNumSeqs: 2, MaxBatchedTokens: 8}
	s := newTestScheduler(t, limits, NewBlockManager(32, 4, true))
	for range 4 {
		if err := s.Add(&Sequence{Prompt: []int{1, 2, 3}, MaxTokens: 6}); err != nil {
			t.Fatal(err)
		}
	}
	drive(s, 1)
	if s.Running() != 2 {
		t.Fatalf("%d run of 2", s.Running())
	}
	limits.MaxNumSeqs = 0
	retune(t, s, limits)
	if drive(s, 100); s.Running() != 0 || s.Waiting() != 2 {
		t.Errorf("with no place %d run and %d wait, want what ran to end and the rest to wait", s.Running(), s.Waiting())
	}
	limits.MaxNumSeqs, limits.MaxBatchedTokens = 1, 1
	retune(t, s, limits)
	if drive(s, 3); s.Running() != 1 {
		t.Errorf("%d run of 1", s.Running())
	}
	limits.MaxNumSeqs = 2
	if err := s.Retune(limits); err == nil {
		t.Error("more sequences than tokens were allowed")
	}
	if drive(s, 100); !s.Idle() {
		t.Error("not all have ended")
	}
}

func retune(t *testing.T, s *Scheduler, l Limits) {
	t.Helper()
	if err := s.Retune(l); err != nil {
		t.Fatal(err)
	}
}

// TestReceived: a prompt whose keys and values come from another instance takes its blocks
// and only its last token is computed; after a preemption all of it is.
func TestReceived(t *testing.T) {
	blocks := NewBlockManager(16, 4, true)
	s := newTestScheduler(t, Limits{MaxNumSeqs: 2, MaxBatchedTokens: 64}, blocks)
	q := &Sequence{Prompt: make([]int, 21), MaxTokens: 5, Received: 99}
	for i := range q.Prompt {
		q.Prompt[i] = i
	}
	if err := s.Add(q); err != nil {
		t.Fatal(err)
	}
	step := s.Schedule(time.Time{})
	if len(step.Items) != 1 || step.Items[0].Start != 20 || step.Items[0].Tokens != 1 || !step.Items[0].Samples() {
		t.Fatalf("the first step has %+v", step.Items)
	}
	if got := s.Stats(); got.ReceivedTokens != 20 || got.PrefixHits != 0 || got.Used != 6 {
		t.Errorf("%+v", got)
	}
	s.Computed(step.Items[0], 0)
	q.Output = append(q.Output, 1)

	s.Finish(q)
	if blocks.Used() != 0 || blocks.Cached() != 5 {
		t.Errorf("%d blocks are used, %d keep something: what came can be found again", blocks.Used(), blocks.Cached())
	}
	q.Reset()
	if q.Len() != 0 || q.Received != 0 || q.Finished() {
		t.Errorf("after Reset: %+v", q)
	}
}

// TestReceivedIsLost: what came from another instance is computed when it is lost.
func TestReceivedIsLost(t *testing.T) {
	s := newTestScheduler(t, Limits{MaxNumSeqs: 2, MaxBatchedTokens: 64}, NewBlockManager(8, 4, false))
	low := &Sequence{Prompt: make([]int, 13), MaxTokens: 4, Received: 12, Class: Background}
	high := &Sequence{Prompt: make([]int, 20), MaxTokens: 2, Class: Realtime}
	for _, q := range []*Sequence{low, high} {
		if err := s.Add(q); err != nil {
			t.Fatal(err)
		}
		drive(s, 1)
	}
	if low.Preemptions == 0 {
		t.Fatal("nothing was lost")
	}
	before := s.Stats().ReceivedTokens
	if drive(s, 100); !s.Idle() || before != 12 || s.Stats().ReceivedTokens != before || s.Stats().RecomputedTokens < 12 {
		t.Errorf("idle: %t, %+v", s.Idle(), s.Stats())
	}
}

func newTestScheduler(t *testing.T, l Limits, b *BlockManager) *Scheduler {
	t.Helper()
	s, err := NewScheduler(l, b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
