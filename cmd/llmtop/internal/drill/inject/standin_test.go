package inject

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"llmtop/cmd/llmtop/internal/child"
)

// busyScript is a process that keeps a core busy and ends when its input does.
const busyScript = "#!/bin/sh\nexec 3<&0\n(cat <&3 >/dev/null; kill -9 $$) &\nwhile :; do :; done\n"

// script is a program in a directory of its own.
func script(t *testing.T, text string) (exe string) {
	t.Helper()
	exe = filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(exe, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return exe
}

// standIn is a site whose engine is a script.
func standIn(t *testing.T, text string) *Site {
	t.Helper()
	s := &Site{Exe: script(t, text), Dir: t.TempDir(), Log: t.Logf}
	var err error
	if s.Engine, err = (child.Command{Exe: s.Exe, Args: []string{"engine"}}).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Engine.Stop)
	return s
}

// until waits for something that a kernel or another process does in its own time.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

// skipLacking skips a test that wants more than this user or machine has.
func skipLacking(t *testing.T, err error) {
	t.Helper()
	if lacks := Lacking(""); errors.As(err, &lacks) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
