package record

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"
)

func TestAGrowingFileIsFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grow.llmrec")
	w, err := Create(path, Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, path)
	if _, err := r.Next(context.Background()); err != io.EOF {
		t.Fatalf("nothing written yet: %v", err)
	}
	samples := newSmall().rich(2*groupSize + 3)
	written := 0
	r.wait = func(context.Context) error {
		if written == len(samples) {
			return w.Close()
		}
		w.Write(samples[written])
		written++
		return w.Flush()
	}
	got := read(t, r)
	if len(got) != len(samples) || written != len(samples) {
		t.Fatalf("%d samples of %d, %d written", len(got), len(samples), written)
	}
	for i := range got {
		assertSame(t, got[i], samples[i])
	}
	r.Follow(time.Hour)
	if _, err := r.Next(context.Background()); err != io.EOF {
		t.Errorf("following a closed file: %v, want the end", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// trickle is a file that grows by a few bytes whenever its reader waits.
type trickle struct {
	memory
	there int
}

func (g *trickle) Size() (int64, error) { return int64(g.there), nil }

func (g *trickle) ReadAt(b []byte, offset int64) (int, error) {
	return g.memory[:g.there].ReadAt(b, offset)
}

func TestHalfARecordIsWaitedFor(t *testing.T) {
	samples := newSmall().rich(groupSize + 4)
	g := &trickle{memory: recorded(t, samples), there: 5}
	r, err := newReader(g, true)
	if err != nil {
		t.Fatal(err)
	}
	r.wait = func(context.Context) error {
		g.there = min(g.there+7, len(g.memory))
		return nil
	}
	got := read(t, r)
	if len(got) != len(samples) {
		t.Fatalf("%d samples, want %d", len(got), len(samples))
	}
	if i := r.Info(); i.Damaged != 0 || !i.CleanClose {
		t.Errorf("damaged %d, clean %t", i.Damaged, i.CleanClose)
	}
}
