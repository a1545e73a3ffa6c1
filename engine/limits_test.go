package engine

import (
	"testing"
	"time"
)

// A cache that becomes smaller while sequences run: some lose their blocks, all of them end.
func TestWithhold(t *testing.T) {
	blocks := NewBlockManager(32, 4, true)
	s, err := NewScheduler(Limits{MaxNumSeqs: 8, MaxBatchedTokens: 64}, blocks)
	if err != nil {
		t.Fatal(err)
	}
	const prompt, answer = 12, 20
	var all []*Sequence
	for i := range 8 {
		q := &Sequence{MaxTokens: answer, Sampler: NewSampler(0, 1, 0)}
		for p := range prompt {
			q.Prompt = append(q.Prompt, 100*i+p)
		}
		if err := s.Add(q); err != nil {
			t.Fatal(err)
		}
		all = append(all, q)
	}
	preempted, smallest := 0, 32
	for n := 0; !s.Idle(); n++ {
		if n > 1000 {
			t.Fatal("sequences never end")
		}
		if n >= 4 {
			s.Withhold(26)
		}
		step := s.Schedule(time.Time{})
		preempted += len(step.Preempted)
		for _, i := range step.Items {
			s.Computed(i, 0)
			if i.Samples() {
				i.Seq.Output = append(i.Seq.Output, 7)
			}
		}
		for _, i := range step.Items {
			if len(i.Seq.Output) == answer {
				s.Finish(i.Seq)
			}
		}
		st := s.Stats()
		if st.Used+st.Cached+st.Free+st.Withheld != 32 {
			t.Fatalf("blocks do not add up: %+v", st)
		}
		smallest = min(smallest, 32-st.Withheld)
	}
	if preempted == 0 || smallest != 6 {
		t.Errorf("%d preempted, the cache fell to %d blocks; want some, and 6", preempted, smallest)
	}
	for _, q := range all {
		if len(q.Output) != answer {
			t.Errorf("%d tokens", len(q.Output))
		}
	}
	s.Withhold(0)
	if blocks.Free() != 32 {
		t.Errorf("%d blocks are free at the end", blocks.Free())
	}
}

func TestRetuneKeepsLimits(t *testing.T) {
	s, err := NewScheduler(Limits{MaxNumSeqs: 4, MaxBatchedTokens: 8}, NewBlockManager(8, 4, false))
	if err != nil {
		t.Fatal(err)
	}
	l := s.Limits()
	l.MaxNumSeqs = 16
	if err := s.Retune(l); err == nil || s.Limits().MaxNumSeqs != 4 {
		t.Errorf("more sequences than tokens: %v, %+v", err, s.Limits())
	}
	l.MaxNumSeqs = 2
	if err := s.Retune(l); err != nil || s.Limits() != l {
		t.Errorf("%v, %+v", err, s.Limits())
	}
}
