package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is this test program under llmtop's name, where other users may run it too.
func program(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "llmtop")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "llmtop")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, text, 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

// serving starts a command that ends as an engine and waits until its pages answer, asked
// by probe; it returns the process's number.
func serving(t *testing.T, cmd *exec.Cmd, ready func(pid int) bool) int {
	t.Helper()
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if err := cmd.Start(); err != nil {
		t.Skipf("%s cannot be started here: %v", cmd.Path, err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	for late := time.After(60 * time.Second); !ready(cmd.Process.Pid); {
		select {
		case <-ended:
			t.Skip("the engine did not start: no such namespace or port here")
		case <-late:
			t.Fatal("the engine does not answer")
		case <-time.After(50 * time.Millisecond):
		}
	}
	return cmd.Process.Pid
}

// finding runs `llmtop find --json` and returns the engine of a process.
func finding(t *testing.T, path string, pid int, as *syscall.SysProcAttr) (foundEngine, bool) {
	t.Helper()
	cmd := exec.Command(path, "find", "--json")
	cmd.Dir, cmd.SysProcAttr, cmd.Env = "/", as, []string{"PATH=/usr/bin:/bin"}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Skipf("it cannot be run so here: %v", err)
	}
	var r struct{ Engines []foundEngine }
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, e := range r.Engines {
		if e.PID == pid {
			return e, true
		}
	}
	return foundEngine{}, false
}

// TestFindAnEngine: a real engine on a port that nobody would guess is found by its process,
// and llmtop without a URL attaches to it.
func TestFindAnEngine(t *testing.T) {
	path := program(t)
	port := freePort(t)
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	pid := serving(t, exec.Command(path, "serve", "--threads", "1", "--addr", fmt.Sprintf("127.0.0.1:%d", port)), func(int) bool {
		r, err := http.Get(url + "/metrics")
		if err == nil {
			r.Body.Close()
		}
		return err == nil
	})
	e, ok := finding(t, path, pid, nil)
	if !ok || !e.Readable || e.Address != url || e.Engine != "llmtop" || e.Dialect != "vllm" || e.Model == "" || e.User == "" {
		t.Errorf("found %+v, %v", e, ok)
	}
	out, err := exec.Command(path, "--once").CombinedOutput()
	if err != nil || strings.Contains(string(out), "no engine") {
		t.Errorf("llmtop --once: %v\n%s", err, out)
	}
}

// freePort is below those that the kernel chooses, and not one that engines have by default.
func freePort(t *testing.T) int {
	t.Helper()
	for port := 19000; port < 20000; port++ {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Skip("no free port")
	return 0
}

// TestFindInAnotherNamespace: an engine as in a container is found and read from outside;
// a user who may not enter is told what is there and what is missing.
func TestFindInAnotherNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a network namespace and be another user")
	}
	path := program(t)
	cmd := exec.Command("/bin/sh", "-c", `ip link set lo up && exec "$0" serve --threads 1 --addr 127.0.0.1:8000`, path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	var e foundEngine
	pid := serving(t, cmd, func(pid int) bool {
		var ok bool
		e, ok = finding(t, path, pid, nil)
		return ok && e.Readable
	})
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		t.Fatal(err)
	}
	want := "http://127.0.0.1:8000#" + strings.NewReplacer(":[", "ns=", "]", "").Replace(link)
	if e.Address != want || e.Model == "" {
		t.Errorf("found %+v, want it at %s", e, want)
	}
	for _, address := range []string{want, fmt.Sprintf("127.0.0.1:8000#pid=%d", pid)} {
		out, err := exec.Command(path, "--once", address).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "no requests yet") {
			t.Errorf("llmtop --once %s: %v\n%s", address, err, out)
		}
	}
	nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	e, ok := finding(t, path, pid, nobody)
	missing := fmt.Sprintf("llmtop serve, pid %d, listens on :8000 in another network namespace", pid)
	if !ok || e.Readable || e.Missing != missing || e.Next != "entering it needs root" {
		t.Errorf("as another user: found %+v, %v", e, ok)
	}
}
