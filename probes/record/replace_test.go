package record

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestAFileThatIsRemovedWhileItIsWritten: no more is lost than what was in it.
func TestAFileThatIsRemovedWhileItIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.llmrec")
	samples := newSmall().rich(40)
	w, err := Create(path, Manifest{Facts: map[string]string{"engine": "vllm"}})
	if err != nil {
		t.Fatal(err)
	}
	put := func(from, to int) error {
		for _, s := range samples[from:to] {
			w.Write(s)
		}
		return w.Flush()
	}
	if err := put(0, 10); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil { // nothing can be made there
		t.Fatal(err)
	}
	if err := put(10, 12); !errors.Is(err, errRemoved) || !errors.Is(err, ErrExists) {
		t.Errorf("removed: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := put(12, 13); !errors.Is(err, errRemoved) {
		t.Errorf("made again, and not said: %v", err)
	}
	if err := put(13, 40); err != nil {
		t.Errorf("it goes on: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, path)
	assertAll(t, r, samples[12:])
	if m := verified(t, r).Manifest; m.Facts["engine"] != "vllm" || m.PID != os.Getpid() {
		t.Errorf("manifest %+v", m)
	}
}

// TestAStoreThatIsRemovedWhileItIsWritten: its files, or all of it, its lock too.
func TestAStoreThatIsRemovedWhileItIsWritten(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"the files": func(dir string) error { return os.Remove(filepath.Join(dir, must(storeNames(dir))[1])) },
		"all files": func(dir string) error {
			for _, e := range must(os.ReadDir(dir)) {
				if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
			return nil
		},
		"the store": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			samples := newSmall().rich(60)
			c := clockAt(samples[0].At)
			o := StoreOptions{FileLength: 20 * time.Second, MaxBytes: 1 << 30}
			w := storeOf(t, dir, o, c)
			put(t, w, c, samples[:25])
			names := must(storeNames(dir))
			first := open(t, filepath.Join(dir, names[0])).Len()
			if err := remove(dir); err != nil || len(names) != 2 {
				t.Fatal(err, names)
			}
			c.set(samples[25].At)
			w.Write(samples[25])
			if err := w.Flush(); !errors.Is(err, errRemoved) {
				t.Errorf("removed: %v", err)
			}
			put(t, w, c, samples[26:])
			if _, err := openStoreWriter(dir, Manifest{}, o, c.now, options{queue: 1}); !errors.Is(err, ErrBusy) {
				t.Errorf("a second writer: %v", err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			want := samples[25:]
			if name == "the files" {
				want = slices.Concat(samples[:first], want)
			}
			assertAll(t, open(t, dir), want)
		})
	}
}

// TestAStoreWhoseLockWasRemoved still has one writer.
func TestAStoreWhoseLockWasRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	samples := newSmall().rich(10)
	c := clockAt(samples[0].At)
	w := storeOf(t, dir, StoreOptions{}, c)
	put(t, w, c, samples)
	if err := os.Remove(filepath.Join(dir, "lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := openStoreWriter(dir, Manifest{}, StoreOptions{}, c.now, options{queue: 1}); !errors.Is(err, ErrBusy) {
		t.Errorf("a second writer: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if names := namesIn(t, dir); len(must(storeNames(dir))) != 1 {
		t.Errorf("files %q", names)
	}
}
