package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"llmtop/probes"
)

// clock is the time that a store is told.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func clockAt(at time.Time) *clock { return &clock{at: at} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// storeOf opens a store for writing at the time of the first synthetic samples.
func storeOf(t testing.TB, dir string, o StoreOptions, c *clock) *Writer {
	t.Helper()
	w, err := openStoreWriter(dir, Manifest{Interval: time.Second}, o, c.now, options{queue: queueSize, spool: spoolOf(dir, true), spoolTick: make(chan time.Time)})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// put writes samples one by one; the clock goes with them.
func put(t testing.TB, w *Writer, c *clock, samples []*probes.Sample) {
	t.Helper()
	for _, s := range samples {
		c.set(s.At)
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		for len(w.syncs) > cap(w.syncs)/2 { // hours pass faster here than a disk syncs, and files wait for it
			runtime.Gosched()
		}
	}
}

func namesIn(t testing.TB, dir string) []string {
	t.Helper()
	names, err := storeNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestAStoreRotatesAndLosesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	samples := newSmall().rich(100)
	c := clockAt(samples[0].At)
	w := storeOf(t, dir, StoreOptions{FileLength: 30 * time.Second}, c)
	put(t, w, c, samples[:70])
	w.Write(samples[70], &Finding{At: samples[70].At, State: "degraded", Cause: "queue-backlog"})
	w.Mark(samples[70].At, "here")
	put(t, w, c, samples[71:])
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v; want 0700", info.Mode(), err)
	}
	if names := namesIn(t, dir); len(names) != 4 || names[0] != "20260301T000001Z.llmrec" {
		t.Errorf("files %v", names)
	}
	r := open(t, dir)
	assertAll(t, r, samples)
	for i := len(samples) - 1; i >= 0; i -= 3 {
		s, err := r.At(i)
		if err != nil {
			t.Fatal(err)
		}
		assertSame(t, s, samples[i])
		if k := r.Index(s.At.Add(time.Millisecond)); k != i {
			t.Errorf("Index of sample %d: %d", i, k)
		}
	}
	r.Seek(59)
	if s, err := r.Next(t.Context()); err != nil || s.Seq != 60 || r.Position() != 60 {
		t.Errorf("after Seek: %v, %v", s, err)
	}
	if f, err := r.FindingsAt(70); err != nil || len(f) != 1 || f[0].Cause != "queue-backlog" {
		t.Errorf("findings %v, %v", f, err)
	}
	for name, i := range map[string]Info{"info": r.Info(), "verify": verified(t, r)} {
		if i.Samples != 100 || i.Files != 4 || i.Damaged != 0 || !i.CleanClose || len(i.Marks) != 1 || i.Findings != 1 || len(i.Gaps) != 0 ||
			!i.Start.Equal(samples[0].At) || !i.End.Equal(samples[99].At) || len(i.Engines) != 1 {
			t.Errorf("%s %+v", name, i)
		}
	}
	if len(r.open) > openParts {
		t.Errorf("%d files open", len(r.open))
	}
}

func verified(t testing.TB, r *Reader) Info {
	t.Helper()
	i, err := r.Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestAStoreGoesOnAfterARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	samples := newSmall().rich(60)
	c := clockAt(samples[0].At)
	o := StoreOptions{FileLength: 40 * time.Second}
	w := storeOf(t, dir, o, c)
	put(t, w, c, samples[:10])
	w.Close()
	w = storeOf(t, dir, o, c) // young: the same file
	if w.Before() != 10 {
		t.Errorf("%d samples before, want 10", w.Before())
	}
	put(t, w, c, samples[10:20])
	w.Close()
	c.set(samples[50].At)                                                                           // too old by now: a new file, and the hole is a gap in it
	if err := os.WriteFile(filepath.Join(dir, "20260301T000045Z.llmrec"), nil, 0o600); err != nil { // killed before its first byte
		t.Fatal(err)
	}
	w = storeOf(t, dir, o, c)
	if w.Before() != 0 {
		t.Errorf("%d samples before, want a new file", w.Before())
	}
	put(t, w, c, samples[50:])
	w.Close()
	r := open(t, dir)
	assertAll(t, r, slices.Concat(samples[:20], samples[50:]))
	i := r.Info()
	if len(i.Gaps) != 1 || i.Gaps[0].Dropped != 30 || i.Files != 2 {
		t.Errorf("info %+v", i)
	}
}

// TestRetention drops the oldest by age and by size, and nothing that is not the store's.
func TestRetention(t *testing.T) {
	for name, o := range map[string]StoreOptions{
		"age":  {FileLength: 10 * time.Second, Retain: time.Minute},
		"size": {FileLength: 10 * time.Second, MaxBytes: 80 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			samples := newSmall().rich(200)
			outside := filepath.Join(t.TempDir(), "outside.llmrec")
			if os.Mkdir(dir, 0o700) != nil || os.WriteFile(outside, recorded(t, samples[:3]), 0o600) != nil {
				t.Fatal("no room")
			}
			foreign := map[string]string{"20250101T000000Z.llmrec": "looks like one by name only", "notes.txt": "mine", "copy.llmrec": "mine too"}
			for name, text := range foreign {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			link := filepath.Join(dir, "20250101T000001Z.llmrec")
			if err := os.Symlink(outside, link); err != nil {
				t.Fatal(err)
			}
			c := clockAt(samples[0].At)
			w := storeOf(t, dir, o, c)
			for _, s := range samples {
				put(t, w, c, []*probes.Sample{s})
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for name, text := range foreign {
				if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != text {
					t.Errorf("%s: %q, %v", name, b, err)
				}
			}
			if _, err := os.Lstat(link); err != nil {
				t.Error("the link is gone")
			}
			if b, err := os.ReadFile(outside); err != nil || len(b) == 0 {
				t.Error("what the link leads to was touched")
			}
			os.Remove(filepath.Join(dir, "20250101T000000Z.llmrec"))
			r := open(t, dir)
			got := read(t, r)
			first := int(got[0].Seq)
			assertAll(t, open(t, dir), samples[first-1:])
			var used int64
			for _, name := range namesIn(t, dir) {
				var st syscall.Stat_t
				syscall.Stat(filepath.Join(dir, name), &st)
				used += st.Blocks * 512
			}
			switch {
			case o.MaxBytes > 0 && (used > o.MaxBytes+2*diskBlock || used < o.MaxBytes/2):
				t.Errorf("%d bytes on disk, at most %d are wanted", used, o.MaxBytes)
			case o.Retain > 0 && (len(got) < 60 || len(got) > 90):
				t.Errorf("%d samples kept for a minute", len(got))
			}
		})
	}
}

func TestAStoreHasOneWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	w, err := OpenStore(dir, Manifest{}, StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(dir, Manifest{}, StoreOptions{}); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "process "+itoa(os.Getpid())+" is writing") {
		t.Errorf("a second writer: %v", err)
	}
	w.Close()
	if w, err = OpenStore(dir, Manifest{}, StoreOptions{}); err != nil {
		t.Fatal(err)
	}
	w.Close()
}

func TestStoresThatAreRefused(t *testing.T) {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	refused := func(dir, want string) {
		t.Helper()
		w, err := OpenStore(dir, Manifest{}, StoreOptions{})
		if err == nil {
			w.Close()
			t.Fatalf("%s: opened", dir)
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	os.Mkdir(at("good"), 0o700)
	os.Symlink(at("good"), at("link"))
	os.WriteFile(at("file"), nil, 0o600)
	os.Mkdir(at("shared"), 0o777)
	os.Chmod(at("shared"), 0o777)
	os.Mkdir(at("locklink"), 0o700)
	os.Symlink(at("file"), at("locklink/lock"))
	refused(at("link"), "symbolic link")
	refused(at("link")+"/", "symbolic link")
	refused(at("file"), "not a directory")
	refused(at("shared"), "others can write")
	refused(at("locklink"), "symbolic link")
	refused(at("none/deeper"), "no such file")
	if b, _ := os.ReadFile(at("file")); len(b) != 0 {
		t.Error("the lock was written through a link")
	}
	if os.Geteuid() == 0 {
		t.Log("root may write anywhere: a read-only directory is tried by the disk that fails")
		return
	}
	os.Mkdir(at("readonly"), 0o500)
	refused(at("readonly"), "permission denied")
}

// TestAClockThatGoesBack: names grow all the same, and the order is that of writing.
func TestAClockThatGoesBack(t *testing.T) {
	newest := "20260301T120000Z.llmrec"
	at := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	for range 12 {
		next := nextName(at, newest)
		if compareNames(newest, next) >= 0 || !storeName.MatchString(next) {
			t.Fatalf("%s after %s", next, newest)
		}
		newest = next
	}
	if got := nextName(at.Add(2*time.Hour), newest); got != "20260301T130000Z.llmrec" {
		t.Errorf("a later time: %s", got)
	}
	if got := nextName(at, "20260301T120000Z-9999.llmrec"); got != "20260301T120001Z.llmrec" {
		t.Errorf("no number is left: %s", got)
	}
}

func TestAStoreIsFollowed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	samples := newSmall().rich(70)
	c := clockAt(samples[0].At)
	w := storeOf(t, dir, StoreOptions{FileLength: 20 * time.Second}, c)
	put(t, w, c, samples[:1])
	r := open(t, dir)
	written := 1
	r.wait = func(context.Context) error {
		if written == len(samples) {
			return w.Close()
		}
		n := min(written+9, len(samples))
		put(t, w, c, samples[written:n])
		written = n
		return nil
	}
	assertAll(t, r, samples)
	if len(r.parts) != 4 {
		t.Errorf("%d files, want 4", len(r.parts))
	}
}

// TestAFileThatIsGone: retention takes a file away under a reader.
func TestAFileThatIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	samples := newSmall().rich(100)
	c := clockAt(samples[0].At)
	w := storeOf(t, dir, StoreOptions{FileLength: 10 * time.Second}, c)
	put(t, w, c, samples)
	w.Close()
	r := open(t, dir)
	if _, err := r.At(99); err != nil {
		t.Fatal(err)
	}
	names := namesIn(t, dir)
	os.Remove(filepath.Join(dir, names[0]))
	os.Rename(filepath.Join(dir, names[4]), filepath.Join(dir, names[1])) // another file of that name
	two, four, five := r.parts[2].first, r.parts[4].first, r.parts[5].first
	for i := range two {
		if _, err := r.At(i); !errors.Is(err, ErrGone) || !errors.Is(err, ErrDamaged) {
			t.Fatalf("sample %d: %v, want ErrGone", i, err)
		}
	}
	r.Index(samples[3].At)
	assertAll(t, r, slices.Concat(samples[two:four], samples[five:]))
	if i := r.Info(); i.Samples != 100 || i.Damaged != two+five-four || i.Files != 7 {
		t.Errorf("info %+v", i)
	}
	if i := verified(t, r); i.Samples != 100-two-five+four || i.Damaged != two+five-four {
		t.Errorf("verified %+v", i)
	}
}

// TestManyFiles holds a reader of a thousand files to a few open ones.
func TestManyFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	os.Mkdir(dir, 0o700)
	whole := recorded(t, newTiny().rich(2))
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("20260301T000000Z-%04d.llmrec", i)), whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := openFiles(t)
	r := open(t, dir)
	if got := read(t, r); len(got) != 2000 {
		t.Errorf("%d samples, want 2000", len(got))
	}
	if n := openFiles(t) - before; n > openParts {
		t.Errorf("%d files are open", n)
	}
}

func openFiles(t testing.TB) int {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc")
	}
	return len(fds)
}

func TestStoresWithoutARecording(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); !errors.Is(err, ErrNotRecording) {
		t.Errorf("%v", err)
	}
	path := filepath.Join(dir, "20260301T000000Z.llmrec")
	os.WriteFile(path, nil, 0o600)
	if _, err := Open(dir); !errors.Is(err, ErrEmpty) {
		t.Errorf("%v", err)
	}
	os.WriteFile(path, []byte("hello, this is no recording"), 0o600)
	if _, err := Open(dir); !errors.Is(err, ErrNotRecording) {
		t.Errorf("%v", err)
	}
}
