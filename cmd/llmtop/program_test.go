package main

import (
	"os"
	"path/filepath"
	"testing"
)

// programIn makes this program a file "llmtop" in a folder, and returns its path: the test
// binary acts as what it is called.
func programIn(t testing.TB, dir string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "llmtop")
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	return link
}
