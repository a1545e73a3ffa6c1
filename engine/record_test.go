package engine

import (
	"testing"
	"time"
)

// What the loop computes after a stop string has ended the answer is no part of
// it, and nothing changes a request that has finished.
func TestRecordAfterTheEnd(t *testing.T) {
	l, at := newRequestLog(), newClock().at
	r := l.open("id", at)
	for s := StageReceive; s < StagePrefill; s++ {
		r.finished(s, at)
	}
	r.token(at.Add(1 * time.Second))
	r.token(at.Add(3 * time.Second))
	r.update(func(f *facts) { f.line.Skip(StageDetokenize, at.Add(3*time.Second)) })
	r.token(at.Add(9 * time.Second))
	l.close(r, FinishStop, at.Add(4*time.Second))
	r.token(at.Add(10 * time.Second))
	r.lostBlocks(at.Add(11 * time.Second))
	f := r.snapshot()
	if f.outputTokens != 2 || f.maxITL != 2*time.Second || f.preemptions != 0 || f.line.Total() != 4*time.Second {
		t.Errorf("%d tokens, longest gap %s, %d preemptions, %s in all", f.outputTokens, f.maxITL, f.preemptions, f.line.Total())
	}
	if f.between(StagePrefill, StageDecode) != 3*time.Second {
		t.Errorf("prefill and decode took %s", f.between(StagePrefill, StageDecode))
	}
}
