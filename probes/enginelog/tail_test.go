package enginelog

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

const (
	full  = "[2026-11-30 04:05:06 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_token_ratio: 0.1 -> 0.2\n"
	other = "[2026-11-30 04:05:06] something else that nobody counts\n"
)

// logs is a directory with a log in it.
type logs struct {
	t    *testing.T
	path string
}

func newLogs(t *testing.T) logs { return logs{t, filepath.Join(t.TempDir(), "engine.log")} }

func (l logs) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l logs) write(path, text string) {
	l.t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	l.must(err)
	_, err = f.WriteString(text)
	l.must(err)
	l.must(f.Close())
}

// watch starts a probe of the log; look waits for some polls and reads.
func (l logs) watch() (look func() (*probes.EngineLog, error)) {
	p := New(Source{Kind: file, Name: l.path}, Options{})
	l.t.Cleanup(func() { l.must(p.Close()) })
	section, err := p.Read(l.t.Context())
	return func() (*probes.EngineLog, error) {
		<-time.After(3 * pollEvery)
		synctest.Wait()
		section, err = p.Read(l.t.Context())
		s, _ := section.(*probes.EngineLog)
		return s, err
	}
}

func total(s *probes.EngineLog, kind string) float64 {
	if s == nil {
		return -1
	}
	for _, c := range s.Counts {
		if c.Kind == kind {
			return c.Total
		}
	}
	return 0
}

func (l logs) want(look func() (*probes.EngineLog, error), what string, want float64) *probes.EngineLog {
	l.t.Helper()
	s, err := look()
	if got := total(s, "kv-pool-full"); got != want || err != nil {
		l.t.Errorf("%s: counted %g (%v), want %g", what, got, err, want)
	}
	return s
}

func TestTailCountsWhatIsWrittenAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogs(t)
		l.write(l.path, strings.Repeat(full, 3)+other)
		look := l.watch()
		s := l.want(look, "before attaching", 0)
		if len(s.Counts) != 1 || len(s.Counts[0].Numbers) != 1 || !s.Counts[0].LastAt.IsZero() || s.Lines.Or(-1) != 0 || s.Dialect != "sglang" {
			t.Errorf("the lines before attaching: %+v", s)
		}
		l.write(l.path, full+other+full[:20])
		s = l.want(look, "after attaching", 1)
		if s.Lines.Or(-1) != 2 || s.Skipped.Or(-1) != 0 || s.Counts[0].LastAt.IsZero() || s.Source != "file:"+l.path {
			t.Errorf("after attaching: %+v", s)
		}
		l.write(l.path, full[20:])
		l.want(look, "the rest of a line", 2)
		if again := l.want(look, "nothing new", 2); !again.At.After(s.At) {
			t.Errorf("read at %v, then at %v: nothing new is a reading too", s.At, again.At)
		}
	})
}

func TestTailLooksBackABit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogs(t)
		l.write(l.path, strings.Replace(full, "reqs: 2", "reqs: 9", 1)+strings.Repeat(other, lookBack/len(other)+1))
		if s := l.want(l.watch(), "far behind", 0); len(s.Counts) != 0 {
			t.Errorf("%+v was read from further back than %d", s.Counts, lookBack)
		}
	})
}

// TestTailLooksBackIntoALine: what it looks back to is most likely the middle of a line,
// where a prompt may begin like a known one.
func TestTailLooksBackIntoALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogs(t)
		rest := full + strings.Repeat("x", lookBack-len(full)-1) + "\n"
		l.write(l.path, "Received request: prompt: '"+rest)
		if s := l.want(l.watch(), "half a line", 0); len(s.Counts) != 0 {
			t.Errorf("%+v was read from half a line", s.Counts)
		}
	})
}

func TestTailFollowsRotation(t *testing.T) {
	for name, rotate := range map[string]func(l logs){
		"rename and create": func(l logs) {
			l.must(os.Rename(l.path, l.path+".1"))
			l.write(l.path, full)
		},
		"the old file is written on": func(l logs) {
			l.must(os.Rename(l.path, l.path+".1"))
			l.write(l.path, "")
			<-time.After(2 * pollEvery)
			l.write(l.path+".1", full)
		},
		"renamed, and nobody has made a new one": func(l logs) {
			l.must(os.Rename(l.path, l.path+".1"))
			<-time.After(2 * pollEvery)
			l.write(l.path+".1", full)
		},
		"remove and create": func(l logs) {
			l.must(os.Remove(l.path))
			l.write(l.path, full)
		},
		"a last line without an end": func(l logs) {
			l.write(l.path, strings.TrimSuffix(full, "\n"))
			l.must(os.Rename(l.path, l.path+".1"))
			l.write(l.path, other)
			<-time.After(2 * retire)
		},
		"copy and truncate": func(l logs) {
			l.must(os.Truncate(l.path, 0))
			l.write(l.path, full)
		},
		"truncated and grown past the old place": func(l logs) {
			l.must(os.Truncate(l.path, 0))
			l.write(l.path, strings.Repeat(other, 100)+full)
		},
		"truncated and grown to the old place": func(l logs) {
			l.must(os.Truncate(l.path, 0))
			l.write(l.path, full+strings.Replace(other, "else", "ELSE", 1))
			l.must(os.Chtimes(l.path, time.Time{}, time.Now().Add(time.Hour))) // the clock stands still here
		},
		"truncated under a writer that keeps its place": func(l logs) {
			l.must(os.Truncate(l.path, 0))
			f, err := os.OpenFile(l.path, os.O_WRONLY, 0)
			l.must(err)
			_, err = f.WriteAt([]byte("\n"+full), 1<<30)
			l.must(err)
			l.must(f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLogs(t)
				l.write(l.path, other)
				look := l.watch()
				l.write(l.path, full)
				l.want(look, "before", 1)
				rotate(l)
				if s := l.want(look, "after", 2); s.Skipped.Or(0) > 1<<20 {
					t.Errorf("%g bytes left out", s.Skipped.Or(0))
				}
			})
		})
	}
}

func TestTailFollowsALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogs(t)
		one, two := l.path+".one", l.path+".two"
		l.write(one, full)
		l.must(os.Symlink(one, l.path))
		look := l.watch()
		l.write(one, full)
		l.want(look, "the first target", 1)
		l.write(two, full)
		l.must(os.Symlink(two, l.path+".new"))
		l.must(os.Rename(l.path+".new", l.path))
		l.want(look, "the second target", 2)
		l.write(two, full)
		l.want(look, "written on", 3)
	})
}

func TestTailSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, want string
		make       func(l logs)
		unmake     func(l logs) // then it can be read
	}{
		{"missing", "no such file", func(logs) {}, func(logs) {}},
		{"directory", "a directory, not a file", func(l logs) { l.must(os.Mkdir(l.path, 0o700)) }, func(l logs) { l.must(os.Remove(l.path)) }},
		{"FIFO", "a FIFO", func(l logs) { l.must(syscall.Mkfifo(l.path, 0o600)) }, func(l logs) { l.must(os.Remove(l.path)) }},
		{"device", "not a regular file", func(l logs) { l.must(os.Symlink("/dev/null", l.path)) }, func(l logs) { l.must(os.Remove(l.path)) }},
		{"no directory", "no such file", func(l logs) { l.must(os.Remove(filepath.Dir(l.path))) }, func(l logs) { l.must(os.Mkdir(filepath.Dir(l.path), 0o700)) }},
		{"link to itself", "too many levels", func(l logs) { l.must(os.Symlink(l.path, l.path)) }, func(l logs) { l.must(os.Remove(l.path)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLogs(t)
				c.make(l)
				look := l.watch()
				s, err := look()
				if s != nil || err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), l.path) != 1 {
					t.Errorf("%+v, %v; want %q and the path once", s, err, c.want)
				}
				c.unmake(l)
				look()
				l.write(l.path, full)
				if s, err = look(); s == nil || err != nil {
					t.Errorf("not tried again: %+v, %v", s, err)
				}
			})
		})
	}
}

func TestTailMayNotReadEverything(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLogs(t)
		l.write(l.path, full)
		l.must(os.Chmod(l.path, 0))
		if s, err := l.watch()(); s != nil || err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// TestTailOfAFileThatComesLater counts all of it: it is younger than the watching.
func TestTailOfAFileThatComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogs(t)
		look := l.watch()
		look()
		l.write(l.path, full+full)
		l.want(look, "a file that came later", 2)
	})
}

// TestTailSaysThatThePathIsGone, while it still reads what was open.
func TestTailSaysThatThePathIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogs(t)
		l.write(l.path, other)
		look := l.watch()
		l.must(os.Rename(l.path, l.path+".1"))
		l.want(look, "a rotation takes a moment", 0)
		<-time.After(absent)
		l.write(l.path+".1", full)
		s, err := look()
		if total(s, "kv-pool-full") != 1 || err == nil || !strings.Contains(err.Error(), "still read") {
			t.Errorf("%+v, %v", s, err)
		}
	})
}
