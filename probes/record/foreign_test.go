package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestFilesOfOthersStay: a file that happens to have the name of a lock or of a spool is
// not touched.
func TestFilesOfOthersStay(t *testing.T) {
	const notes = "- ask about the marks\n- lock the door\n"
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	if err := os.Mkdir(store, 0o700); err != nil {
		t.Fatal(err)
	}
	path := write(t, newTiny().rich(3))
	for _, at := range []string{filepath.Join(store, "lock"), path + ".marks"} {
		if err := os.WriteFile(at, []byte(notes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenStore(store, Manifest{}, StoreOptions{}); err == nil || !strings.Contains(err.Error(), "not a store's lock") {
		t.Errorf("store: %v", err)
	}
	w := goOn(t, path, later(2))
	if _, err := AddMark(path, markTime, "x"); err == nil || !strings.Contains(err.Error(), "holds no marks") {
		t.Errorf("mark: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{filepath.Join(store, "lock"), path + ".marks"} {
		if b, err := os.ReadFile(at); string(b) != notes {
			t.Errorf("%s holds %q, %v", at, b, err)
		}
	}
	for text, want := range map[string]bool{"": true, "77": true, "77\n": true, "77\n8": false, " 7": false, "-7": false, strings.Repeat("7", 40): false} {
		at := filepath.Join(dir, "l")
		os.WriteFile(at, []byte(text), 0o600)
		if f := must(os.Open(at)); isLock(f) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}

// TestHalfAMark: who added one was killed; the next one is whole.
func TestHalfAMark(t *testing.T) {
	spool := filepath.Join(t.TempDir(), "a.marks")
	if err := os.WriteFile(spool, []byte(`{"at":"2026-11-30T1`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := addToSpool(spool, Mark{markTime, "whole"}); err != nil {
		t.Fatal(err)
	}
	if got := spooled(spool); len(got) != 1 || got[0].Text != "whole" {
		t.Errorf("marks %+v", got)
	}
}

// TestASpoolThatCannotBeRemoved: its marks are taken in once.
func TestASpoolThatCannotBeRemoved(t *testing.T) {
	dir := t.TempDir()
	spool := filepath.Join(dir, "a.marks")
	if err := addToSpool(spool, Mark{markTime, "once"}); err != nil {
		t.Fatal(err)
	}
	var got []Mark
	for range 3 {
		err := takeSpool(spool, func(m []Mark) error {
			got = append(got, m...)
			return os.Rename(dir, dir+"2") // so that the name cannot be removed
		})
		os.Rename(dir+"2", dir)
		if (err == nil) != (len(got) == 0) && len(got) != 1 {
			t.Errorf("%v, %+v", err, got)
		}
	}
	if len(got) != 1 {
		t.Errorf("marks %+v", got)
	}
}

// TestHostileNamesInAStore: what no store can have named is passed over.
func TestHostileNamesInAStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	hostile := []string{
		"99991231T235959Z-9999.llmrec", "20269999T999999Z-9999.llmrec", "20261130T120000Z-10000.llmrec",
		"20261130T120000Z\n.llmrec", "\x1b[2J.llmrec", "-rf.llmrec", strings.Repeat("a", 255),
	}
	for _, name := range hostile {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	samples := newSmall().rich(50)
	c := clockAt(samples[0].At)
	w := storeOf(t, dir, StoreOptions{FileLength: 20 * time.Second, MaxBytes: 1, Retain: time.Second}, c)
	put(t, w, c, samples)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := storeOf(t, dir, StoreOptions{MaxBytes: 1}, c).Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range hostile {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%q is gone", name)
		}
	}
	if got := namesIn(t, dir); len(got) != 1 || got[0] <= "20260301T0000" || got[0] > "20260302" {
		t.Errorf("files %q", got)
	}
	for _, newest := range append(hostile, "99981231T235959Z-9999.llmrec") {
		if next := nextName(samples[0].At, newest); !storeName.MatchString(next) || isStoreName(newest) && next <= newest {
			t.Errorf("after %q comes %q", newest, next)
		}
	}
}

// TestFilesThatCannotBeDroppedNow are dropped later, and counted until then.
func TestFilesThatCannotBeDroppedNow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	samples := newSmall().rich(80)
	c := clockAt(samples[0].At)
	w := storeOf(t, dir, StoreOptions{FileLength: 4 * time.Second, Retain: 5 * time.Second}, c)
	put(t, w, c, samples[:45])
	first := must(storeNames(dir))[0]
	f := must(os.Open(filepath.Join(dir, first)))
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil { // as `mark add` does for a moment
		t.Fatal(err)
	}
	put(t, w, c, samples[45:70])
	if names := must(storeNames(dir)); names[0] != first {
		t.Errorf("files %q", names)
	}
	f.Close()
	put(t, w, c, samples[70:])
	if names := must(storeNames(dir)); names[0] == first {
		t.Errorf("%s is there still: %q", first, names)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
