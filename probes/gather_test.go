package probes

import (
	"slices"
	"testing"
)

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

// What two reads tell of several engines is joined engine by engine.
func TestGatheredSetsAreJoinedByEndpoint(t *testing.T) {
	section := func(endpoint string, missed int, seqs ...uint64) *Requests {
		r := &Requests{Endpoint: endpoint, Missed: missed, FinishedOnly: true}
		for _, n := range seqs {
			r.Finished = append(r.Finished, &Request{Seq: n})
		}
		return r
	}
	older := RequestsSet{section("a", 1, 1, 2), section("b", 0, 7)}
	newer := RequestsSet{section("c", 0, 9), section("a", 2, 3)}
	var got Sample
	newer.after(older).AddTo(&got)
	want := map[string][]uint64{"a": {1, 2, 3}, "b": {7}, "c": {9}}
	if len(got.Requests) != len(want) {
		t.Fatalf("%d sections, want %d", len(got.Requests), len(want))
	}
	for _, s := range got.Requests {
		var seqs []uint64
		for _, r := range s.Finished {
			seqs = append(seqs, r.Seq)
		}
		if !slices.Equal(seqs, want[s.Endpoint]) || !s.FinishedOnly || (s.Endpoint == "a" && s.Missed != 3) {
			t.Errorf("%s: %v, %d missed, want %v", s.Endpoint, seqs, s.Missed, want[s.Endpoint])
		}
	}
	if len(older[0].Finished) != 2 || len(newer[1].Finished) != 1 || len(newer) != 2 {
		t.Error("a published section changed")
	}
	if s := newer.after(&Host{}).(RequestsSet); len(s) != 2 {
		t.Error("joined with a section of another kind")
	}
}
