package record

import (
	"path/filepath"
	"testing"
	"time"

	"llmtop/probes"
)

// setBack writes 100 samples, a second apart, whose clock is set back by as much after 40.
func setBack(t *testing.T, by time.Duration, store bool) (r *Reader, samples []*probes.Sample) {
	t.Helper()
	samples = newSmall().many(100)
	for i, s := range samples {
		s.At = samples[0].At.Add(time.Duration(i) * time.Second)
		if i >= 40 {
			s.At = s.At.Add(-by)
		}
	}
	if !store {
		return open(t, write(t, samples)), samples
	}
	dir := filepath.Join(t.TempDir(), "store")
	c := clockAt(samples[0].At)
	w := storeOf(t, dir, StoreOptions{FileLength: 10 * time.Second}, c)
	put(t, w, c, samples)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, dir), samples
}

// TestTimesWhereTheClockWasSetBack: every sample is found by its time; of those that have
// one twice the later is.
func TestTimesWhereTheClockWasSetBack(t *testing.T) {
	for _, by := range []time.Duration{20 * time.Second, 5 * time.Minute, time.Hour} {
		r, samples := setBack(t, by, false)
		last := map[int64]int{}
		for i, s := range samples {
			last[s.At.UnixNano()] = i
		}
		for i, s := range samples {
			want := last[s.At.UnixNano()]
			if got := r.Index(s.At); got != want {
				t.Errorf("set back by %s: sample %d at %s is %d, want %d", by, i, s.At.Format(time.TimeOnly), got, want)
			}
		}
		if got := r.Index(samples[0].At.Add(-2 * time.Hour)); got != 0 {
			t.Errorf("set back by %s: before all is sample %d", by, got)
		}
	}
}

// TestNothingIsLostWhereTheClockWasSetBack: what has no bound is the whole recording.
func TestNothingIsLostWhereTheClockWasSetBack(t *testing.T) {
	for _, store := range []bool{false, true} {
		for _, by := range []time.Duration{20 * time.Second, 5 * time.Minute, time.Hour} {
			r, samples := setBack(t, by, store)
			info := r.Info()
			if first, end := Between(r, info.Start, info.End); first != 0 || end != len(samples) {
				t.Errorf("set back by %s, store %v: all of it is %d to %d", by, store, first, end)
			}
			if first, end := Between(r, info.Start.Add(-time.Hour), info.End.Add(time.Hour)); first != 0 || end != len(samples) {
				t.Errorf("set back by %s, store %v: more than all is %d to %d", by, store, first, end)
			}
			if first, end := Between(r, info.End.Add(time.Hour), info.End.Add(2*time.Hour)); first != end {
				t.Errorf("set back by %s, store %v: after all are %d to %d", by, store, first, end)
			}
		}
	}
	r, samples := setBack(t, time.Hour, false)
	if first, end := Between(r, samples[10].At, samples[30].At); first != 10 || end != 31 {
		t.Errorf("before it was set back: %d to %d", first, end)
	}
	if first, end := Between(r, samples[50].At, samples[70].At); first != 50 || end != 71 {
		t.Errorf("after it was set back: %d to %d", first, end)
	}
}
