//go:build unix

package model

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// openTiny writes a tiny model to a file and opens it.
func openTiny(t *testing.T) (string, *File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(path, modelFile(wide, tensorF32, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, f
}

// TestMapped gives the same logits as a file in memory and keeps the bytes until the
// File and both models have let go.
func TestMapped(t *testing.T) {
	_, f := openTiny(t)
	want := alone(t, load(t, modelFile(wide, tensorF32, 1), 1), []int{3, 4}, KVFloat32)[1]
	a, err := Load(f, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Load(f, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	mapped := f.mapped
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err = Load(f, Options{})
	refused(t, err, "the file is closed")
	if name, ok := f.Text("general.name"); name != "tiny" || !ok {
		t.Errorf("name %q after Close", name)
	}
	a.Close()
	if got := alone(t, b, []int{3, 4}, KVFloat32)[1]; !slices.Equal(got, want) {
		t.Error("logits of the mapped file differ")
	}
	if mapped.data == nil {
		t.Error("the bytes are given back while a model uses them")
	}
	b.Close()
	if mapped.data != nil {
		t.Error("the bytes are kept")
	}
}

// TestShrunk cuts the file short under a loaded model: an error, in the calling
// goroutine and from workers, each time; the process lives.
func TestShrunk(t *testing.T) {
	for _, threads := range []int{1, 3} {
		path, f := openTiny(t)
		m, err := Load(f, Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 1<<18); err != nil {
			t.Fatal(err)
		}
		batch := []Chunk{{Tokens: sequence(0, 20), Blocks: sequence(0, 2), Logits: 1}}
		for range 3 {
			if _, err := m.Forward(NewKVPool(m.Config(), 2, 16, KVFloat32), batch); !errors.Is(err, errShrunk) {
				t.Fatalf("%d threads: %v", threads, err)
			}
		}
		_, err = Load(f, Options{})
		refused(t, err, "cut short")
		m.Close()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWorkerFault brings a fault of another goroutine than the caller's to the caller.
func TestWorkerFault(t *testing.T) {
	path, f := openTiny(t)
	defer f.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	w := newWorkers(2)
	defer w.close()
	var sum byte
	run := func() (err error) {
		defer guard(&err)()
		touched := make(chan bool)
		w.run(2, 1, func(worker, _, _ int) {
			if worker == 0 {
				<-touched
				return
			}
			defer close(touched)
			sum += f.mapped.data[len(f.mapped.data)-1]
		})
		return nil
	}
	if err := run(); !errors.Is(err, errShrunk) {
		t.Errorf("error %v, sum %d", err, sum)
	}
}

// TestGuard leaves panics alone that are no faults of memory.
func TestGuard(t *testing.T) {
	defer func() {
		if p := recover(); p != "other" {
			t.Errorf("recovered %v", p)
		}
	}()
	var err error
	defer guard(&err)()
	panic("other")
}
