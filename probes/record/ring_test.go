package record

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"llmtop/probes"
)

// ringWith is a ring that samples went through, the odd ones with a finding.
func ringWith(t testing.TB, span time.Duration, limit int64, samples []*probes.Sample) *Ring {
	t.Helper()
	r := NewRing(span, limit, Manifest{Version: "1", Interval: time.Second, Facts: map[string]string{"a": "1"}})
	for _, s := range samples {
		putInto(t, r, s)
	}
	return r
}

func putInto(t testing.TB, r *Ring, s *probes.Sample) {
	t.Helper()
	var f *Finding
	if s.Seq%2 == 1 {
		f = &Finding{At: s.At, State: "degraded", Cause: "queue-backlog"}
	}
	if err := r.Write(s, f); err != nil {
		t.Error(err)
	}
}

// TestRingFileHoldsBeforeAndAfter: the file is the ring's samples and those after,
// each once and in order, with findings, marks and which sections were not renewed.
func TestRingFileHoldsBeforeAndAfter(t *testing.T) {
	samples := newSmall().rich(200)
	ring := ringWith(t, 30*time.Second, 1<<30, samples[:100])
	ring.Mark(samples[99].At, "an operator's")
	path := filepath.Join(t.TempDir(), "a.llmrec")
	d, err := ring.Dump(path, Mark{At: samples[99].At, Text: "rule x fired"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Dump(path, Mark{}, nil); !errors.Is(err, ErrDumping) {
		t.Errorf("a second one: %v", err)
	}
	for _, s := range samples[100:150] {
		putInto(t, ring, s)
	}
	ring.Facts(map[string]string{"a": "2", "b": "3"})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	putInto(t, ring, samples[150])
	r := open(t, path)
	got := read(t, r)
	first := int(got[0].Seq) - 1
	if first > 100-30-1 || first < 100-2*30 {
		t.Errorf("the file begins with sample %d", first)
	}
	if len(got) != 150-first {
		t.Fatalf("%d samples from %d, want all to 150", len(got), first)
	}
	for i, s := range got {
		want := samples[first+i]
		assertSame(t, s, want)
		if f, err := r.FindingsAt(i); err != nil || len(f) != int(want.Seq%2) {
			t.Errorf("sample %d: %d findings, %v", i, len(f), err)
		}
	}
	samePointers(t, got, samples[first:150])
	info := r.Info()
	if len(info.Marks) != 2 || info.Marks[1].Text != "rule x fired" || len(info.Gaps) != 0 || !info.CleanClose {
		t.Errorf("marks %+v, gaps %+v, closed %v", info.Marks, info.Gaps, info.CleanClose)
	}
	if f := info.Manifest.Facts; f["a"] != "2" || f["b"] != "3" {
		t.Errorf("facts %v", f)
	}
	if mode := must(os.Stat(path)).Mode().Perm(); mode != 0o600 {
		t.Errorf("mode %v", mode)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// samePointers holds that a section is carried on in got where it is in want.
func samePointers(t *testing.T, got, want []*probes.Sample) {
	t.Helper()
	carried := 0
	for i := 1; i < len(got); i++ {
		g, w := carriedOver(got[i], got[i-1]), carriedOver(want[i], want[i-1])
		for j := range w {
			if w[j] >= 0 {
				carried++
			}
			if g[j] != w[j] {
				t.Fatalf("sample %d, section %d: carried on from %d, want %d", i, j, g[j], w[j])
			}
		}
	}
	if carried == 0 {
		t.Error("no section is carried on: this tests nothing")
	}
}

// TestRingIsBounded: by time, and by bytes when those are reached first.
func TestRingIsBounded(t *testing.T) {
	samples := newSmall().rich(600)
	span, bytes := ringWith(t, 2*time.Minute, 1<<30, samples).Held()
	if span < 2*time.Minute || span > 2*time.Minute+31*time.Second {
		t.Errorf("holds %v, %d bytes, want 2 to 2.5 minutes", span, bytes)
	}
	const limit = 64 << 10
	small := NewRing(time.Hour, limit, Manifest{})
	for _, s := range samples {
		putInto(t, small, s)
		if _, bytes := small.Held(); bytes > limit+limit/2 {
			t.Fatalf("sample %d: %d bytes held, limit %d", s.Seq, bytes, limit)
		}
	}
	if span, bytes := small.Held(); span < 10*time.Second || bytes < limit/2 {
		t.Errorf("holds %v, %d bytes: the limit is hardly used", span, bytes)
	}
}

// TestRingSurvivesAFullDisk: the dump says why, leaves no empty file, and the next one works.
func TestRingSurvivesAFullDisk(t *testing.T) {
	samples := newSmall().rich(50)
	ring := ringWith(t, time.Minute, 1<<30, samples[:40])
	dir := t.TempDir()
	path := filepath.Join(dir, "a.llmrec")
	d, err := ring.Dump(path, Mark{At: samples[39].At}, func(path string, m Manifest) (*Writer, error) {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return nil, err
		}
		full := newDisk()
		w, err := newWriter(full, m, options{queue: 4})
		full.set(func(d *disk) { d.room, d.full = 10, syscall.ENOSPC })
		return w, err
	})
	if err != nil {
		t.Fatal(err)
	}
	<-d.Ended()
	if err := d.Err(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("full disk: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, s := range samples[40:] {
		putInto(t, ring, s)
	}
	if d, err = ring.Dump(path, Mark{At: samples[49].At}, nil); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, open(t, path)); len(got) != 50 {
		t.Errorf("%d samples after the disk had room again, want 50", len(got))
	}
}

// TestRingWaitsForNoDisk: a disk that hangs costs samples of its file, counted, never a Write.
func TestRingWaitsForNoDisk(t *testing.T) {
	samples := newSmall().rich(queueSize + 100)
	ring := ringWith(t, time.Minute, 1<<30, samples[:10])
	hangs, disk := make(chan struct{}), newDisk()
	patience := make(chan time.Time, 1)
	d, err := ring.Dump("a.llmrec", Mark{At: samples[9].At}, func(_ string, m Manifest) (*Writer, error) {
		<-hangs
		return newWriter(disk, m, options{queue: 4})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples[10:] {
		putInto(t, ring, s)
	}
	d.patience = patience
	patience <- time.Time{}
	if err := d.Close(); err == nil {
		t.Error("Close waited for a disk that hangs")
	}
	close(hangs)
	<-d.Ended()
	r := disk.reader(t)
	if got := len(read(t, r)); got != 10+queueSize {
		t.Errorf("%d samples, want those of the ring and %d after", got, queueSize)
	}
}

// TestRingFileBesideAnother: a name that is taken gets a number; nothing is overwritten.
func TestRingFileBesideAnother(t *testing.T) {
	samples := newSmall().rich(5)
	ring := ringWith(t, time.Minute, 1<<30, samples)
	path := filepath.Join(t.TempDir(), "a.llmrec")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := must(ring.Dump(path, Mark{At: samples[4].At}, nil))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if b := must(os.ReadFile(path)); string(b) != "mine" {
		t.Errorf("overwritten: %q", b)
	}
	if want := path[:len(path)-7] + "-2.llmrec"; d.Path() != want || len(read(t, open(t, want))) != 5 {
		t.Errorf("written to %s, want %s", d.Path(), want)
	}
}

// TestRingUnderManyHands is for the race detector: writing, marking, dumping and looking at once.
func TestRingUnderManyHands(t *testing.T) {
	samples := newTiny().rich(400)
	ring := NewRing(20*time.Second, 1<<20, Manifest{})
	putInto(t, ring, samples[0])
	dir := t.TempDir()
	var all sync.WaitGroup
	all.Go(func() {
		for _, s := range samples[1:] {
			putInto(t, ring, s)
		}
	})
	all.Go(func() {
		for i := range 50 {
			ring.Mark(samples[i].At, "x")
			ring.Held()
			ring.Facts(map[string]string{"n": itoa(i)})
		}
	})
	for range 2 {
		all.Go(func() {
			for range 5 {
				d, err := ring.Dump(filepath.Join(dir, "a.llmrec"), Mark{At: samples[0].At}, nil)
				if errors.Is(err, ErrDumping) {
					continue
				}
				if err := errors.Join(err, d.Close()); err != nil {
					t.Error(err)
					return
				}
				consecutive(t, d.Path())
			}
		})
	}
	all.Wait()
	if err := ring.Close(); err != nil {
		t.Error(err)
	}
	if err := ring.Write(samples[0]); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// consecutive holds that no sample of a file is missing or there twice.
func consecutive(t *testing.T, path string) {
	r, err := Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer r.Close()
	var last uint64
	for range r.Len() {
		s, err := r.Next(context.Background())
		if err != nil {
			t.Error(err)
			return
		}
		if last > 0 && s.Seq != last+1 {
			t.Errorf("%s: sample %d follows %d", path, s.Seq, last)
		}
		last = s.Seq
	}
}

// TestSegmentAfterASampleThatDoesNotFit: what could not be held is a gap in the file.
func TestSegmentAfterASampleThatDoesNotFit(t *testing.T) {
	samples := newTiny().rich(6)
	big := *samples[2]
	big.Scrapes = make([]*probes.Scrape, maxSections+1)
	ring := ringWith(t, time.Minute, 1<<30, samples[:2])
	if err := ring.Write(&big); err == nil {
		t.Fatal("it fits")
	}
	putInto(t, ring, samples[3])
	path := filepath.Join(t.TempDir(), "a.llmrec")
	if err := must(ring.Dump(path, Mark{At: big.At}, nil)).Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, path)
	if got, gaps := read(t, r), r.Info().Gaps; len(got) != 3 || len(gaps) != 1 || !gaps[0].From.Equal(big.At) {
		t.Errorf("%d samples, gaps %+v", len(got), gaps)
	}
}

func BenchmarkRingWrite(b *testing.B) {
	samples := newSynthetic(20).many(64)
	ring := NewRing(15*time.Minute, 64<<20, Manifest{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := *samples[i%64]
		s.Mono, s.Seq = time.Duration(i)*time.Second, uint64(i+1)
		ring.Write(&s)
	}
	_, bytes := ring.Held()
	b.ReportMetric(float64(bytes)/float64(min(b.N, 900)), "B/held-sample")
}

func BenchmarkRingDump(b *testing.B) {
	samples := newSynthetic(0).many(900)
	ring := ringWith(b, time.Hour, 64<<20, samples)
	dir := b.TempDir()
	for b.Loop() {
		d := must(ring.Dump(filepath.Join(dir, "a.llmrec"), Mark{At: samples[899].At}, nil))
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
		os.Remove(d.Path())
	}
}
