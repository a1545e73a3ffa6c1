package record

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

// eventful writes a recording of n samples with a finding at every tenth, a mark after
// every fifteenth and a gap before the twentieth.
func eventful(t *testing.T, n int) (path string, samples []*probes.Sample) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.llmrec")
	c, err := NewCopy(path, Manifest{Version: "0.1", Interval: time.Second, Host: "h", Facts: map[string]string{"go": "go1.26"}})
	if err != nil {
		t.Fatal(err)
	}
	add := func(e Entry) {
		if err := c.Add(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	samples = newSmall().rich(n)
	for i, s := range samples {
		if i == 20 {
			add(Entry{Gap: &Gap{From: s.At, To: s.At, Dropped: 0, Reason: "the disk does not keep up"}})
		}
		add(Entry{Sample: s})
		if i%10 == 0 {
			add(Entry{Finding: &Finding{At: s.At, State: "degraded", Cause: "queue-backlog"}})
		}
		if i%15 == 14 {
			add(Entry{Mark: &Mark{At: s.At, Text: "note"}})
		}
	}
	if _, err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return path, samples
}

// order is a recording as a line: a sample as ".", lost ones as "x".
func order(t *testing.T, r *Reader, from, to int) string {
	t.Helper()
	var b strings.Builder
	for e, err := range r.Entries(t.Context(), from, to) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Sample != nil:
			b.WriteByte('.')
		case e.Finding != nil:
			b.WriteByte('F')
		case e.Mark != nil:
			b.WriteByte('M')
		case e.Gap != nil:
			b.WriteByte('G')
		}
		b.WriteString(strings.Repeat("x", e.Lost))
	}
	return b.String()
}

func TestEntriesAreInTheOrderOfTheFile(t *testing.T) {
	path, _ := eventful(t, 50)
	r := open(t, path)
	got := order(t, r, 0, r.Len())
	if n := strings.Count(got, "."); n != 50 {
		t.Fatalf("%d samples: %s", n, got)
	}
	for i, s := range []struct {
		from, to int
		want     string
	}{{0, 3, ".F.."}, {1, 3, ".."}, {20, 21, "G.F"}, {21, 22, "."}, {9, 12, "..F."}, {13, 16, "..M."}, {14, 15, ".M"}, {15, 16, "M."}, {19, 21, ".G.F"}, {20, 22, "G.F."}, {7, 7, ""}, {49, 99, "."}} {
		if got := order(t, r, s.from, s.to); got != s.want {
			t.Errorf("%d: %d to %d: %q, want %q", i, s.from, s.to, got, s.want)
		}
	}
}

func TestExtractIsThatPartAndNoMore(t *testing.T) {
	path, samples := eventful(t, 60)
	r := open(t, path)
	out := filepath.Join(t.TempDir(), "part.llmrec")
	copied, err := Extract(t.Context(), r, 14, 45, out)
	if err != nil {
		t.Fatal(err)
	}
	if copied.Samples != 31 || copied.Findings != 3 || copied.Marks != 3 || copied.Gaps != 1 || copied.Profiles == 0 {
		t.Errorf("%+v", copied)
	}
	part := open(t, out)
	for i := range 31 {
		got, err := part.At(i)
		if err != nil {
			t.Fatal(err)
		}
		assertSame(t, got, samples[14+i])
	}
	if got, want := order(t, part, 0, part.Len()), order(t, r, 14, 45); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	m := part.Info().Manifest
	if m.Host != "h" || m.Facts["go"] != "go1.26" || !strings.Contains(m.Facts["extracted"], "of a.llmrec") {
		t.Errorf("manifest %+v", m)
	}
	if info, _ := os.Stat(out); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// TestCopiesAreWholeOrNotThere: an interrupted copy leaves no file, and a path that is
// taken is left as it is.
func TestCopiesAreWholeOrNotThere(t *testing.T) {
	path, _ := eventful(t, 400)
	r := open(t, path)
	dir := t.TempDir()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, write := range map[string]func(ctx context.Context, out string) error{
		"extract": func(ctx context.Context, out string) error { _, err := Extract(ctx, r, 0, 400, out); return err },
		"redact": func(ctx context.Context, out string) error {
			_, _, err := Redact(ctx, r, out, RedactOptions{})
			return err
		},
		"repair": func(ctx context.Context, out string) error { _, _, err := Repair(ctx, path, out); return err },
	} {
		out := filepath.Join(dir, name)
		if err := write(over, out); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(out); !os.IsNotExist(err) {
			t.Errorf("%s: an interrupted copy is left: %v", name, err)
		}
		if err := os.WriteFile(out, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := write(t.Context(), out); !errors.Is(err, ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
		link := filepath.Join(dir, name+"-link")
		if err := os.Symlink(filepath.Join(dir, "elsewhere"), link); err != nil {
			t.Fatal(err)
		}
		if err := write(t.Context(), link); !errors.Is(err, ErrExists) {
			t.Errorf("%s through a symlink: %v", name, err)
		}
		if b, _ := os.ReadFile(out); string(b) != "mine" {
			t.Errorf("%s wrote over a file", name)
		}
		if err := write(t.Context(), filepath.Join(dir, name+"-whole")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckOfAWholeFile(t *testing.T) {
	path, _ := eventful(t, 50)
	c, err := CheckFile(t.Context(), path)
	if err != nil || !c.Clean() || c.Samples != 50 || c.Lost != 0 || !c.CleanClose {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestCheckAndRepairAnyDamage overwrites a stretch anywhere in a file: the check counts
// every sample that is gone and says between which times, and the repaired file is clean,
// holds every sample that is not, and tells of the rest in gaps.
func TestCheckAndRepairAnyDamage(t *testing.T) {
	path, samples := eventful(t, 50)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bad, out := filepath.Join(dir, "bad.llmrec"), filepath.Join(dir, "good.llmrec")
	for at := 40; at < len(whole)-200; at += 997 {
		b := bytes.Clone(whole)
		for i := range 150 {
			b[at+i] ^= 0x55
		}
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
		os.Remove(out)
		check, copied, err := Repair(t.Context(), bad, out)
		if err != nil {
			t.Fatalf("at %d: %v", at, err)
		}
		if after, _ := os.ReadFile(bad); !bytes.Equal(after, b) {
			t.Fatalf("at %d: the original was touched", at)
		}
		assertRepaired(t, at, check, copied, out, samples)
	}
}

func assertRepaired(t *testing.T, at int, check Check, copied Copied, out string, samples []*probes.Sample) {
	t.Helper()
	if check.Clean() {
		t.Fatalf("at %d: no damage found", at)
	}
	if check.Samples+check.Lost != len(samples) && check.Places[len(check.Places)-1].Before.After(check.Start) {
		t.Errorf("at %d: %d read and %d lost of %d: %+v", at, check.Samples, check.Lost, len(samples), check.Places)
	}
	near := false
	for _, d := range check.Places {
		near = near || d.Bytes > 0 && d.Offset <= int64(at)+150 && int64(at) < d.Offset+d.Bytes+150
	}
	if !near {
		t.Errorf("at %d: said to be at %+v", at, check.Places)
	}
	again, err := CheckFile(t.Context(), out)
	if err != nil || !again.Clean() || again.Samples != check.Samples || copied.Samples != check.Samples {
		t.Fatalf("at %d: repaired: %+v %+v, %v", at, again, copied, err)
	}
	r, err := Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	assertAmong(t, read(t, r), samples, check.Lost)
	missing := 0
	for _, g := range r.Info().Gaps {
		if strings.HasPrefix(g.Reason, "damaged") {
			missing += g.Dropped
		}
	}
	if missing != check.Lost {
		t.Errorf("at %d: the gaps tell of %d samples, %d are lost", at, missing, check.Lost)
	}
}

// TestATornTailIsDamage: a writer that was killed within a record lost that record.
func TestATornTailIsDamage(t *testing.T) {
	path, _ := eventful(t, 20)
	b, _ := os.ReadFile(path)
	cut := filepath.Join(t.TempDir(), "cut.llmrec")
	os.WriteFile(cut, b[:len(b)-3], 0o600)
	c, err := CheckFile(t.Context(), cut)
	if err != nil || c.Clean() || c.Samples != 20 || c.Places[0].Bytes != 17 {
		t.Errorf("%+v, %v", c.Places, err)
	}
}

// TestACopyFailsWithItsDisk: a copy is no live recording, a full disk ends it.
func TestACopyFailsWithItsDisk(t *testing.T) {
	d := newDisk()
	d.set(func(d *disk) { d.room = 20_000 })
	w, err := newWriter(d, Manifest{}, options{queue: queueSize})
	if err != nil {
		t.Fatal(err)
	}
	c := &Copy{w: w, path: filepath.Join(t.TempDir(), "none")}
	defer c.Discard()
	for _, s := range newSmall().rich(1000) {
		if err = c.Add(t.Context(), Entry{Sample: s}); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("1000 samples went to a disk of 20 kB")
	}
}
