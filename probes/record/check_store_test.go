package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAStoreIsCheckedAndRepaired: whole, with a bit flipped in one file, with a file that is
// none, with one that was only just begun; a repaired store is one clean file.
func TestAStoreIsCheckedAndRepaired(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	samples := newSmall().many(60)
	c := clockAt(samples[0].At)
	w := storeOf(t, dir, StoreOptions{FileLength: 10 * time.Second}, c)
	put(t, w, c, samples)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(clean bool, lost int) Check {
		t.Helper()
		got, err := CheckFile(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if got.Clean() != clean || got.Lost != lost || got.Samples != 60-lost || got.Path != dir {
			t.Errorf("%d samples, %d lost, at %v of %s", got.Samples, got.Lost, got.Places, got.Path)
		}
		return got
	}
	check(true, 0)
	names := namesIn(t, dir)
	second := filepath.Join(dir, names[1])
	b, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	at := open(t, second).last().volume.afterSample(6) - 2 // in the seventh sample's record
	b[at] ^= 1
	if err := os.WriteFile(second, b, 0o600); err != nil {
		t.Fatal(err)
	}
	lost := open(t, second).Len()
	damaged, err := CheckFile(t.Context(), second)
	if err != nil || damaged.Lost == 0 || damaged.Lost > lost {
		t.Fatalf("%+v, %v", damaged.Places, err)
	}
	if got := check(false, damaged.Lost); len(got.Places) != 1 || got.Places[0].File != names[1] {
		t.Errorf("places %+v", got.Places)
	}
	out := filepath.Join(t.TempDir(), "out.llmrec")
	if _, copied, err := Repair(t.Context(), dir, out); err != nil || copied.Samples != 60-damaged.Lost || copied.Gaps != 1 {
		t.Errorf("repaired: %+v, %v", copied, err)
	}
	if again, err := CheckFile(t.Context(), out); err != nil || !again.Clean() || again.Samples != 60-damaged.Lost {
		t.Errorf("after the repair: %+v, %v", again, err)
	}
	for name, text := range map[string]string{"29990101T000000Z.llmrec": "no recording", "29990101T000001Z.llmrec": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := check(false, damaged.Lost); len(got.Places) != 2 || got.Places[1].Bytes != int64(len("no recording")) {
		t.Errorf("places %+v", got.Places)
	}
}
