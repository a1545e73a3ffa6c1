package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const incidentFile = "../../testdata/recordings/queue-backlog.llmrec"

// TestInterruptedCommandsLeaveNoFile runs each command that writes with a context that ended.
func TestInterruptedCommandsLeaveNoFile(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, args := range map[string][]string{
		"export json":        {"export", incidentFile, "--format", "json"},
		"export openmetrics": {"export", incidentFile, "--format", "openmetrics"},
		"export perfetto":    {"export", incidentFile, "--format", "perfetto"},
		"extract":            {"extract", incidentFile, "--from", "10s"},
		"redact":             {"redact", incidentFile},
		"repair":             {"repair", incidentFile},
	} {
		out := filepath.Join(t.TempDir(), "out")
		root := newRoot()
		root.SetArgs(append(args, "-o", out))
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		err := root.ExecuteContext(over)
		var exit *exitError
		if !errors.As(err, &exit) || exit.code != 1 || err.Error() != "interrupted" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(out); !os.IsNotExist(err) {
			t.Errorf("%s left a file", name)
		}
	}
}

// TestInterruptedReading runs each command that folds or reads a recording with a context
// that ended: it ends with the next sample, and says so.
func TestInterruptedReading(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"diagnose", incidentFile}, {"diagnose", "--json", incidentFile}, {"diagnose", "--at", "end", incidentFile}, {"diagnose", "--watch", "1s", incidentFile},
		{"replay", "--once", incidentFile}, {"replay", "--once", "--at", "30s", incidentFile}, {"compare", incidentFile + "@-20s.."},
		{"verify", incidentFile}, {"info", incidentFile}, {"profile", incidentFile}, {"profile", "--list", incidentFile}, {"export", incidentFile, "--format", "csv"},
	} {
		var out bytes.Buffer
		root := newRoot()
		root.SetArgs(args)
		root.SetOut(&out)
		root.SetErr(io.Discard)
		err := root.ExecuteContext(over)
		if err == nil || err.Error() != "interrupted" || strings.Count(out.String(), "\n") > 1 {
			t.Errorf("%v: %v, and printed %q", args, err, out.String())
		}
	}
}

// TestFailedSummaries: what redact and repair did is no secret when it cannot be printed.
func TestFailedSummaries(t *testing.T) {
	for _, name := range []string{"redact", "repair"} {
		var stderr bytes.Buffer
		if code := run([]string{name, incidentFile, "-o", filepath.Join(t.TempDir(), "out")}, fullDisk{}, &stderr); code != 1 || !strings.Contains(stderr.String(), "full") {
			t.Errorf("%s: status %d, %s", name, code, stderr.String())
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// TestFailedOutputLeavesNoFile: half of an export is no export.
func TestFailedOutputLeavesNoFile(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	broken := errors.New("broken")
	err := toOutput(newRoot(), out, false, func(w io.Writer) error {
		w.Write(bytes.Repeat([]byte("x"), 1<<20))
		return broken
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := os.Lstat(out); !os.IsNotExist(err) {
		t.Error("a file is left")
	}
}

// TestProfileOpensInPprof hands the profile that the command writes to go tool pprof.
func TestProfileOpensInPprof(t *testing.T) {
	gotool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not installed")
	}
	out := filepath.Join(t.TempDir(), "x.pb.gz")
	var stderr bytes.Buffer
	if code := run([]string{"profile", incidentFile, "--at", "-5s", "-o", out}, io.Discard, &stderr); code != 0 {
		t.Fatalf("status %d: %s", code, stderr.String())
	}
	top, err := exec.Command(gotool, "tool", "pprof", "-top", "-nodecount", "5", out).Output()
	if err != nil || !strings.Contains(string(top), "Type: cpu") || !strings.Contains(string(top), "flat%") {
		t.Errorf("%v\n%s", err, top)
	}
}
