package enginelog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"llmtop/probes"
)

// TestAKilledReaderLeavesNoProgram: who is killed cannot end what it started; a program that
// follows a quiet log would stay for ever.
func TestAKilledReaderLeavesNoProgram(t *testing.T) {
	if dir := os.Getenv("ENGINELOG_READER"); dir != "" {
		p := New(Source{Kind: journal, Name: "vllm"}, Options{})
		until(t, p, "never", func(*probes.EngineLog, error) bool { return false })
		return
	}
	dir := t.TempDir()
	program(t, dir, "journalctl", fmt.Sprintf("echo $$ > %s/pid.new; /bin/mv %s/pid.new %s/pid; exec /bin/sleep 600", dir, dir, dir))
	reader := exec.Command(os.Args[0], "-test.run=^TestAKilledReaderLeavesNoProgram$")
	reader.Env = append(os.Environ(), "ENGINELOG_READER="+dir)
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "pid")
	gone(t, func() bool { _, err := os.Stat(path); return err != nil })
	if err := reader.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = reader.Wait() // it was killed
	if t.Failed() {
		t.FailNow()
	}
	pid, _ := running(t, dir)
	gone(t, func() bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) })
	if t.Failed() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// zombie reports a process that ended and that nobody has asked for.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	var state string
	if err == nil {
		_, err = fmt.Sscanf(string(stat), "%d (sleep) %s", &pid, &state)
	}
	return err == nil && state == "Z"
}
