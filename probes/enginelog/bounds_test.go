package enginelog

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// TestTailLeavesOutWhatItCannotKeepUpWith: of a burst it reads a bounded part, spread over
// all of it, says how much it left out, and is up to date then.
func TestTailLeavesOutWhatItCannotKeepUpWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogs(t)
		l.write(l.path, other)
		look := l.watch()
		look()
		block := strings.Repeat(other, 29) + full
		burst := bytes.Repeat([]byte(block), 4*perPoll/len(block))
		l.write(l.path, string(burst))
		s, err := look()
		if err != nil {
			t.Fatal(err)
		}
		n, left := total(s, "kv-pool-full"), s.Skipped.Or(-1)
		read := n * float64(len(block))
		if read < perPoll/2 || read > 1.5*perPoll || left < float64(len(burst))-1.5*perPoll || read+left > 1.01*float64(len(burst)) {
			t.Errorf("%g bytes counted and %g left out of %d", read, left, len(burst))
		}
		l.write(l.path, full)
		l.want(look, "after the burst", n+1)
	})
}

// TestAFloodOfKnownLines: looking closely costs, so only so many are looked at.
func TestAFloodOfKnownLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogs(t)
		look := l.watch()
		look()
		l.write(l.path, strings.Repeat(full, maxKnown+100))
		s := l.want(look, "a flood", maxKnown)
		if want := 100. * float64(len(full)); s.Skipped.Or(-1) != want || s.Lines.Or(-1) != maxKnown+100 {
			t.Errorf("%g lines, %g bytes left out; want %d and %g", s.Lines.Or(-1), s.Skipped.Or(-1), maxKnown+100, want)
		}
		l.write(l.path, full)
		l.want(look, "after the flood", maxKnown+1)
	})
}

// TestTailOfAHugeBacklog: how much is read does not grow with what there is.
func TestTailOfAHugeBacklog(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil { // a hole: it takes no room
		t.Skipf("no sparse files here: %v", err)
	}
	w := newFollower(f, 0, newSink(newMatcher(rows()), "x"), true)
	fed := 0
	w.lines.line = func(line []byte) { fed += len(line) }
	if _, skipped, err := w.drain(perPoll); err != nil || w.offset != 1<<40 || int64(skipped) < 1<<40-2*perPoll || fed > 2*perPoll {
		t.Errorf("reached %d with %d left out, %d bytes in lines, %v", w.offset, skipped, fed, err)
	}
}

// TestTailOfRubbish: lines without end, NUL, binary data.
func TestTailOfRubbish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogs(t)
		look := l.watch()
		look()
		l.write(l.path, strings.Repeat("\x00", 100_000)+"\n"+strings.Repeat("\xff\xfe", 50_000)+"\r\n"+full+strings.Repeat("x", 300_000))
		s := l.want(look, "rubbish", 1)
		if want := 100_000. - maxLine + 100_001 - maxLine + 300_000 - maxLine; s.Skipped.Or(-1) != want || s.Lines.Or(-1) != 3 {
			t.Errorf("%g lines, %g bytes left out; want 3 and %g", s.Lines.Or(-1), s.Skipped.Or(-1), want)
		}
	})
}

// TestProbeEnds: Close ends the reading, also of a probe that was never read.
func TestProbeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // synctest fails when a goroutine is left
		for _, read := range []bool{false, true} {
			p := New(Source{Kind: file, Name: filepath.Join(t.TempDir(), "none")}, Options{})
			if read {
				_, _ = p.Read(context.Background()) // there is no file
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestNames(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want, err string }{
		{"/var/log/vllm.log", "file:/var/log/vllm.log", ""},
		{"vllm.log", "file:" + wd + "/vllm.log", ""},
		{"file:a:b", "file:" + wd + "/a:b", ""},
		{"odd:name", "file:" + wd + "/odd:name", ""},
		{"journal:vllm@0.service", "journal:vllm@0.service", ""},
		{"journal:kernel", "journal:kernel", ""},
		{"docker:vllm-1", "docker:vllm-1", ""},
		{"auto", "auto", ""},
		{"", "", "no name"},
		{"file:", "", "not a path"},
		{"journal:", "", "not the name of a unit"},
		{"journal:--help", "", "not the name of a unit"},
		{"journal:a b", "", "not the name of a unit"},
		{"docker:-v", "", "not the ID"},
		{"docker:a;reboot", "", "not the ID"},
		{"docker:$(x)", "", "not the ID"},
		{"docker:" + strings.Repeat("a", 129), "", "not the ID"},
		{"a\x00b", "", "not a path"},
	} {
		s, err := ParseSource(c.text)
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: %v, want an error with %q", c.text, err, c.err)
		case c.err == "" && (err != nil || s.String() != c.want):
			t.Errorf("%q: %v, %v; want %s", c.text, s, err, c.want)
		}
		if c.err == "" {
			if name := New(s, Options{}).Name(); name != "log "+c.want {
				t.Errorf("%q is named %q", c.text, name)
			}
		}
	}
}
