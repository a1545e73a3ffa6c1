package probes

import "testing"

func TestGatheredRequestsAreBounded(t *testing.T) {
	many := func(from, n int) *Requests {
		r := &Requests{Missed: 1}
		for i := range n {
			r.Finished = append(r.Finished, &Request{Seq: uint64(from + i)})
		}
		return r
	}
	older, newer := many(1, 10000), many(10001, 10000)
	newer.InFlight = 3
	got := newer.after(older).(*Requests)
	if len(got.Finished) != maxGathered || got.Missed != 2+20000-maxGathered || got.InFlight != 3 {
		t.Errorf("%d kept, %d missed", len(got.Finished), got.Missed)
	}
	if first, last := got.Finished[0].Seq, got.Finished[maxGathered-1].Seq; last != 20000 || first != 20001-maxGathered {
		t.Errorf("kept %d to %d, want the newest", first, last)
	}
	if len(older.Finished) != 10000 || len(newer.Finished) != 10000 {
		t.Error("a published section changed")
	}
	if newer.after(&Host{}) != Section(newer) {
		t.Error("joined with a section of another kind")
	}
}
