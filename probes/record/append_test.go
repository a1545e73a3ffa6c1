package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/probes"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// goOn appends samples to a recording.
func goOn(t testing.TB, path string, samples []*probes.Sample) *Writer {
	t.Helper()
	w, err := Append(path, Manifest{Version: "later", Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return w
}

// later returns the samples of another collection, an hour later, on another page.
func later(n int) []*probes.Sample {
	gen := newSyntheticOf(1, 2, 2, 9)
	gen.start = gen.start.Add(time.Hour)
	return gen.rich(n)
}

func assertAll(t testing.TB, r *Reader, want []*probes.Sample) {
	t.Helper()
	got := read(t, r)
	if len(got) != len(want) {
		t.Fatalf("%d samples, want %d", len(got), len(want))
	}
	for i := range got {
		assertSame(t, got[i], want[i])
	}
}

func TestARecordingIsGoneOnWith(t *testing.T) {
	first, second := newSmall().rich(40), later(50)
	path := write(t, first)
	whole, _ := os.ReadFile(path)
	w := goOn(t, path, second)
	if w.Before() != 40 {
		t.Errorf("%d samples before, want 40", w.Before())
	}
	w.Mark(second[3].At, "again")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(path); !bytes.HasPrefix(now, whole) {
		t.Error("what was there was changed")
	}
	all := slices.Concat(first, second)
	for _, stored := range []bool{true, false} {
		b, _ := os.ReadFile(path)
		r, err := newReader(memory(b), stored)
		if err != nil {
			t.Fatal(err)
		}
		assertAll(t, r, all)
		i, err := r.Verify(t.Context())
		if err != nil || i.Samples != 90 || i.Damaged != 0 || !i.CleanClose || i.Manifest.Version != "later" || len(i.Marks) != 1 {
			t.Errorf("stored index %t: %+v, %v", stored, i, err)
		}
		if len(i.Gaps) != 1 || !i.Gaps[0].From.Equal(first[39].At.Add(time.Second)) || !i.Gaps[0].To.Equal(second[0].At.Add(-time.Second)) ||
			i.Gaps[0].Dropped < 3500 || i.Gaps[0].Dropped > 3600 {
			t.Errorf("gaps %+v", i.Gaps)
		}
	}
	r := open(t, path)
	for i := len(all) - 1; i >= 0; i -= 7 { // by the index, backwards
		s, err := r.At(i)
		if err != nil {
			t.Fatal(err)
		}
		assertSame(t, s, all[i])
		if k := r.Index(s.At); k != i {
			t.Errorf("Index of sample %d: %d", i, k)
		}
	}
}

// TestAppendAtAnyCut cuts a recording everywhere near its end, as kill -9 would.
func TestAppendAtAnyCut(t *testing.T) {
	first := newTiny().rich(20)
	whole := recorded(t, first)
	second := later(3)
	records := recordsOf(t, whole)
	from := int(records[len(records)-5].offset)
	cuts := []int{0, 1, 5, 23, 24, 25, 100}
	for cut := from; cut <= len(whole); cut += 1 + cut%7 {
		cuts = append(cuts, cut)
	}
	for _, cut := range cuts {
		path := filepath.Join(t.TempDir(), "cut.llmrec")
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		kept := 0
		if r, err := newReader(memory(whole[:cut]), true); err == nil {
			kept = r.Len()
		}
		if err := goOn(t, path, second).Close(); err != nil {
			t.Fatal(err)
		}
		r := open(t, path)
		assertAll(t, r, slices.Concat(first[:kept], second))
		if i, err := r.Verify(t.Context()); err != nil || i.Damaged != 0 || !i.CleanClose {
			t.Fatalf("cut at %d: %+v, %v", cut, i, err)
		}
	}
}

// TestManySessionsInOneFile goes on again and again, with damage in between: what is
// not damaged comes back as it was, whatever ids were used before.
func TestManySessionsInOneFile(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), "many.llmrec")
		w, err := Create(path, Manifest{})
		if err != nil {
			rt.Fatal(err)
		}
		byTime := map[int64]*probes.Sample{}
		start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		for session := range rapid.IntRange(1, 4).Draw(rt, "sessions") {
			if session > 0 {
				b, _ := os.ReadFile(path)
				at := rapid.IntRange(24, len(b)-1).Draw(rt, "at")
				b[at] ^= byte(rapid.IntRange(0, 1).Draw(rt, "flip"))
				if rapid.Bool().Draw(rt, "cut") {
					b = b[:max(at, 24)]
				}
				if err := os.WriteFile(path, b, 0o600); err != nil {
					rt.Fatal(err)
				}
				if w, err = Append(path, Manifest{}); err != nil {
					rt.Fatal(err)
				}
			}
			gen := newSyntheticOf(1, 1, 0, 4+session)
			gen.start = start.Add(time.Duration(session) * time.Hour)
			for _, s := range gen.rich(rapid.IntRange(0, 40).Draw(rt, "samples")) {
				byTime[s.At.UnixNano()] = s
				w.Write(s)
			}
			if err := w.Close(); err != nil {
				rt.Fatal(err)
			}
		}
		r, err := Open(path)
		if err != nil {
			rt.Fatal(err)
		}
		defer r.Close()
		for _, s := range read(t, r) {
			want := byTime[s.At.UnixNano()]
			if want == nil {
				rt.Fatalf("a sample at %v that nobody wrote", s.At)
			}
			if s.Profile != nil && len(s.Profile.Raw) == 0 && want.Profile != nil { // its record was hit
				c, profile := *want, *want.Profile
				profile.Raw, c.Profile = s.Profile.Raw, &profile
				want = &c
			}
			assertSame(t, s, want)
		}
	})
}

func TestAppendRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	whole := recorded(t, newTiny().rich(3))
	newer, older := bytes.Clone(whole), bytes.Clone(whole)
	newer[headerSize+len(fileMagic)]++
	older[headerSize+len(fileMagic)]--
	damaged := bytes.Clone(whole)
	damaged[headerSize]++
	for name, b := range map[string][]byte{
		"text": []byte("not a recording, but something dear to its owner\n"), "good": whole, "held": whole,
		"newer": fixHeader(newer), "older": fixHeader(older), "damaged": damaged,
	} {
		if err := os.WriteFile(at(name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if os.Symlink(at("good"), at("link")) != nil || unix.Mkfifo(at("pipe"), 0o600) != nil || os.Mkdir(at("dir"), 0o700) != nil {
		t.Fatal("cannot make links, pipes and folders here")
	}
	holder := goOn(t, at("held"), nil)
	defer holder.Close()
	for name, want := range map[string]string{
		"text": "not a llmtop recording", "newer": "newer than this llmtop", "older": "choose a new file", "damaged": "damaged",
		"link": "symbolic link", "pipe": "regular file", "dir": "directory", "held": "process " + itoa(os.Getpid()) + " is writing it", "none": "no such file",
	} {
		var before []byte
		if name != "pipe" { // reading it would wait for a writer
			before, _ = os.ReadFile(at(name))
		}
		w, err := Append(at(name), Manifest{})
		if err == nil {
			w.Close()
			t.Fatalf("%s: went on", name)
		}
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), at(name)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
		if name == "pipe" {
			continue
		}
		if after, _ := os.ReadFile(at(name)); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", name)
		}
	}
	if _, err := Append(at("held"), Manifest{}); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
}

// fixHeader gives the first record the CRC of what it is now.
func fixHeader(b []byte) []byte {
	h, _ := parseHeader(b)
	fixed := appendRecord(nil, h.kind, h.flags, b[headerSize:headerSize+h.length])
	return append(fixed, b[len(fixed):]...)
}

// TestGarbageAtTheEndStays: only a record that was not finished is cut off.
func TestGarbageAtTheEndStays(t *testing.T) {
	first, second := newTiny().rich(20), later(5)
	b := append(recorded(t, first), make([]byte, 5000)...)
	path := filepath.Join(t.TempDir(), "zeros.llmrec")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := goOn(t, path, second).Close(); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(path); !bytes.HasPrefix(now, b) {
		t.Error("bytes that are no part of a record were cut off")
	}
	r := open(t, path)
	assertAll(t, r, slices.Concat(first, second))
	if i, err := r.Verify(t.Context()); err != nil || i.Damaged != 1 {
		t.Errorf("%+v, %v; want the zeros as damage", i, err)
	}
}

// TestAnotherLayoutGetsAnotherID: the file of an llmtop with other fields is gone on with.
func TestAnotherLayoutGetsAnotherID(t *testing.T) {
	d := newDisk()
	a, err := newAppender(d, Manifest{Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	first := newTiny().rich(3)
	for _, s := range first {
		if err := a.write(item{sample: s}); err != nil {
			t.Fatal(err)
		}
	}
	// The same fields under another name of a type: read alike, not the same bytes.
	l := ownLayout()
	l.ID = 7
	l.Types[0].Name += "_of_old"
	if own, err := own(); err != nil || own.root == nil {
		t.Fatal(err)
	}
	c, err := readContinued(memory(d.data))
	if err != nil || c.layout != layoutID {
		t.Fatalf("the same layout: id %d, %v", c.layout, err)
	}
	b, err := marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	packed, flags := a.packer.pack(b)
	other := appendFileHeader(nil, formatMajor)
	other = appendRecord(other, typeLayout, flags, packed)
	if c, err = readContinued(memory(other)); err != nil || c.layout != 8 {
		t.Fatalf("another layout: id %d, %v; want 8", c.layout, err)
	}
	d = newDisk()
	d.data = other
	a, err = c.appender(d, Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range first {
		if err := a.write(item{sample: s}); err != nil {
			t.Fatal(err)
		}
	}
	assertAll(t, d.reader(t), first)
}
