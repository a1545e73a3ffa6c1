package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"llmtop/probes/record"
)

// TestRingOnTheScreen presses the key, sends the signal, and quits while the file is written.
func TestRingOnTheScreen(t *testing.T) {
	dir := t.TempDir()
	o := startOnTerminal(t, 120, 30, "--ring", "15m", "--ring-dir", dir, "http://127.0.0.1:1")
	o.waitFor(t, "ring 15m")
	io.WriteString(o.tty, "w")
	o.waitFor(t, "-key.llmrec")
	if err := o.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	o.waitFor(t, "more")
	io.WriteString(o.tty, "q")
	if code := o.waitEnd(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
	if !strings.Contains(o.text(), "-key.llmrec: ") {
		t.Error("it does not say what it wrote")
	}
	oneIncident(t, dir)
}

// oneIncident holds that a folder has one file, closed whole, for this user alone.
func oneIncident(t *testing.T, dir string) record.Info {
	t.Helper()
	paths, _ := filepath.Glob(dir + "/*")
	if len(paths) != 1 {
		t.Fatalf("files %q", paths)
	}
	r, err := record.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	if info.Samples == 0 || !info.CleanClose || len(info.Marks) == 0 {
		t.Errorf("%d samples, closed %v, marks %+v", info.Samples, info.CleanClose, info.Marks)
	}
	if stat, err := os.Stat(paths[0]); err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", stat.Mode(), err)
	}
	return info
}

// TestSIGUSR1WithoutARing is harmless, and says what it is for.
func TestSIGUSR1WithoutARing(t *testing.T) {
	o := startOnTerminal(t, 120, 30, "http://127.0.0.1:1")
	o.waitFor(t, "UNMEASURABLE")
	if err := o.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	o.waitFor(t, "start with --ring")
	io.WriteString(o.tty, "q")
	if code := o.waitEnd(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// TestRingWithoutAScreen: a signal writes the file, SIGTERM ends it whole.
func TestRingWithoutAScreen(t *testing.T) {
	dir := t.TempDir()
	link := programIn(t, t.TempDir())
	cmd := exec.Command(link, "record", "--ring", "1m", "--ring-dir", dir, "http://127.0.0.1:1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	lines := bufio.NewScanner(stderr)
	asked := false
	for lines.Scan() {
		switch text := lines.Text(); {
		case strings.Contains(text, "first sample"):
			cmd.Process.Signal(syscall.SIGUSR1)
		case strings.HasPrefix(text, "SIGUSR1: keeping"):
			asked = true
			cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	if err := cmd.Wait(); err != nil || !asked {
		t.Errorf("%v, asked %v", err, asked)
	}
	if info := oneIncident(t, dir); info.Marks[0].Text != "SIGUSR1" {
		t.Errorf("marks %+v", info.Marks)
	}
}
