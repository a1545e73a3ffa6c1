package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDemoLeavesNobodyBehind kills the demo as nobody should and waits for its engine
// and load to end by themselves.
func TestDemoLeavesNobodyBehind(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	// A copy, not a link: the demo starts its children from its own file, which must
	// be named llmtop for the test binary to act as llmtop.
	copied := filepath.Join(t.TempDir(), "llmtop")
	if err := os.WriteFile(copied, program, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "demo", "--headless", "--json", "--fault", "none", "--for", "1m")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("no verdict: %v", err)
	}
	children := childrenOf(t, cmd.Process.Pid)
	if len(children) < 2 {
		t.Fatalf("%d child processes, want the engine and the load", len(children))
	}
	var fds []unix.PollFd
	for _, pid := range children {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Skipf("no pidfd here: %v", err)
		}
		defer unix.Close(fd)
		fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	cmd.Process.Kill()
	cmd.Wait()
	for i := range fds {
		if n := pollOne(fds[i], 20_000); n != 1 {
			t.Errorf("process %d is still there 20 s after its parent was killed", children[i])
		}
	}
}

func pollOne(fd unix.PollFd, milliseconds int) int {
	for {
		n, err := unix.Poll([]unix.PollFd{fd}, milliseconds)
		if err != unix.EINTR {
			return n
		}
	}
}

func childrenOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), "\nPPid:\t"+strconv.Itoa(parent)+"\n") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
