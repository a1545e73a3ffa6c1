package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/panes"
	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

var morning = time.Date(2031, 4, 1, 8, 0, 0, 0, time.UTC)

// recording writes samples at these seconds and opens what became of them after damage.
func recording(t *testing.T, seconds []int, damage func([]byte) []byte) *recorded {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.llmrec")
	w, err := record.Create(path, manifest(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range seconds {
		sample := &probes.Sample{Seq: uint64(i + 1), At: morning.Add(time.Duration(s) * time.Second), Interval: time.Second}
		if err := w.Write(sample); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if damage != nil {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, damage(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	line, err := newRecorded(r)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func upwards(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// TestDamageKeepsNumbers: a number means the same sample whether those before it can
// be read or not, and each place shows the last good tick up to it.
func TestDamageKeepsNumbers(t *testing.T) {
	const n, group = 200, 64
	for _, before := range []int{700, 1500, 2200} { // bytes from the end, where there are frames only, and the index
		t.Run(fmt.Sprint(before), func(t *testing.T) {
			line := recording(t, upwards(n), func(b []byte) []byte { b[len(b)-before] ^= 0x40; return b })
			lost := 0
			var shown time.Time
			for i := range n {
				ticks, err := line.upTo(i)
				if err != nil {
					t.Fatal(err)
				}
				got, want := ticks[len(ticks)-1].Point.At, morning.Add(time.Duration(i)*time.Second)
				if _, ok := line.when(i); !ok {
					lost++
					want = shown
				}
				if !got.Equal(want) {
					t.Fatalf("number %d shows %s, want %s", i, got, want)
				}
				shown = got
			}
			if lost == 0 || lost > group {
				t.Errorf("%d samples lost, want 1 to %d of the damaged group", lost, group)
			}
		})
	}
}

// TestFirstSamplesDamaged: the first that can be read stands for those before it.
func TestFirstSamplesDamaged(t *testing.T) {
	h := &history{}
	h.push(nil)
	h.push(nil)
	h.push(&rules.Tick{Point: &probes.Point{Sample: &probes.Sample{At: morning}}})
	for i := range 3 {
		if ticks, _ := h.upTo(i); len(ticks) != 1 || !ticks[0].Point.At.Equal(morning) {
			t.Errorf("number %d: %v", i, ticks)
		}
	}
}

// TestReachIsSliced: no key waits for more than a slice, forwards, and back beyond the history.
func TestReachIsSliced(t *testing.T) {
	const n = 1500
	line := recording(t, upwards(n), nil)
	for _, to := range []int{n - 1, 10, n - 1} {
		before := -1
		for got := -1; got < to; {
			var err error
			if got, err = line.reach(to); err != nil {
				t.Fatal(err)
			}
			if before >= 0 && got-before > slice {
				t.Fatalf("one slice from %d to %d, want at most %d", before, got, slice)
			}
			before = got
		}
		ticks, err := line.upTo(to)
		if want := morning.Add(time.Duration(to) * time.Second); err != nil || !ticks[len(ticks)-1].Point.At.Equal(want) {
			t.Fatalf("at %d: %v, want %s", to, err, want)
		}
	}
	if _, known := line.verdict(5); !known {
		t.Error("a verdict is forgotten when its tick is")
	}
}

func TestTravel(t *testing.T) {
	gap := append(upwards(5), 3600, 3601)
	jump := []int{100, 101, 102, 40, 41, 42, 43}
	for _, c := range []struct {
		name    string
		seconds []int
		from    int
		by      time.Duration
		want    int
	}{
		{"on", upwards(50), 10, 10 * time.Second, 20},
		{"back", upwards(50), 30, -10 * time.Second, 20},
		{"beyond the end", upwards(50), 45, time.Minute, 49},
		{"beyond the start", upwards(50), 5, -time.Minute, 0},
		{"across a gap", gap, 4, 10 * time.Second, 5},
		{"back across a gap", gap, 5, -10 * time.Second, 4},
		{"up to a gap", gap, 2, 10 * time.Second, 4},
		{"samples further apart", []int{0, 60, 120}, 0, 10 * time.Second, 1},
		{"over a clock set back", jump, 1, 3 * time.Second, 5},
		{"nowhere to go", upwards(1), 0, time.Second, 0},
	} {
		if got := travel(recording(t, c.seconds, nil), c.from, c.by); got != c.want {
			t.Errorf("%s: from %d by %s to %d, want %d", c.name, c.from, c.by, got, c.want)
		}
	}
}

// TestClockSetBack: the ends are the earliest and the latest time.
func TestClockSetBack(t *testing.T) {
	start, end := recording(t, []int{100, 101, 40, 41}, nil).ends()
	if end.Before(start) {
		t.Errorf("from %s to %s", start, end)
	}
}

// TestMarkThatCannotBeSetSaysHow presses m where nothing is recorded: in a replay, and on a
// screen that only looks at an engine or follows a recording.
func TestMarkThatCannotBeSetSaysHow(t *testing.T) {
	for _, live := range []bool{false, true} {
		past := &history{}
		past.push(&rules.Tick{Point: &probes.Point{Sample: &probes.Sample{At: morning}}, Diagnosis: rules.Diagnosis{State: rules.Healthy}})
		v := newViewer(past, panes.Frame{}, live)
		v.app = panes.NewApp(nil, v)
		v.Mark()
		(<-v.wishes)()
		if !strings.Contains(v.said, "llmtop mark add FILE TEXT") {
			t.Errorf("live %v: says %q", live, v.said)
		}
		if n := len([]rune(v.said)); n > 64 { // beside the keys in 80 columns
			t.Errorf("live %v: %d columns", live, n)
		}
	}
}

// TestMarkIsRecorded sets a mark by key while recording and reads it from the file.
func TestMarkIsRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.llmrec")
	w, err := record.Create(path, manifest(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	past := &history{}
	past.push(&rules.Tick{Point: &probes.Point{Sample: &probes.Sample{At: morning}}, Diagnosis: rules.Diagnosis{State: rules.Healthy}})
	v := newViewer(past, panes.Frame{}, true)
	v.app, v.recorder = panes.NewApp(nil, v), w
	var marker panes.Marker = v
	marker.Mark()
	(<-v.wishes)()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if marks := r.Info().Marks; len(marks) != 1 || !marks[0].At.Equal(morning) || marks[0].Text != "healthy" {
		t.Errorf("marks %v, want one at %s: healthy", marks, morning)
	}
}

func TestMoments(t *testing.T) {
	start := time.Date(2031, 4, 1, 23, 58, 30, 0, time.UTC)
	end := start.Add(5 * time.Minute)
	for text, want := range map[string]time.Time{
		"90s": start.Add(90 * time.Second), "-30s": end.Add(-30 * time.Second), "0s": start,
		"23:59": start.Add(30 * time.Second), "00:01:00": start.Add(150 * time.Second),
		"23:58": start.Add(-30 * time.Second), "00:10": end.Add(6*time.Minute + 30*time.Second),
		"2031-04-02T00:00:00Z": start.Add(90 * time.Second), "2031-04-02 00:00:00": start.Add(90 * time.Second), "2031-04-02T00:00": start.Add(90 * time.Second),
		"2031-04-02 00:00:00.5Z": start.Add(90*time.Second + time.Second/2), "2031-04-02T02:00:00+02:00": start.Add(90 * time.Second),
	} {
		got, err := parseMoment("at", text, start, end)
		if err != nil || !got.Equal(want) {
			t.Errorf("--at %s is %s, %v; want %s", text, got, err, want)
		}
		if far := farOff(got, start, end) != ""; far != (got.Before(start) || got.After(end)) {
			t.Errorf("--at %s said to be outside: %t", text, far)
		}
	}
	for _, text := range []string{"yesterday", "", "25:00", "2031-04-02", "2031-04-02 24:00:00", "T", "Z", "9999999h", "NaN", "1e3s"} {
		if _, err := parseMoment("at", text, start, end); err == nil {
			t.Errorf("%q is taken for a time", text)
		}
	}
}

// TestWhyNot: the screen says what is wrong with the disk, not where the file is.
func TestWhyNot(t *testing.T) {
	if got := whyNot(fmt.Errorf("recording: %w", &os.PathError{Op: "write", Path: "/mnt/a/b.llmrec", Err: io.ErrShortWrite})); got != "short write" {
		t.Errorf("got %q", got)
	}
	if whyNot(nil) != "" {
		t.Error("a reason without an error")
	}
}
