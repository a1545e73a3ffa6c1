package probes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain is also the process that listens in a namespace of its own, and the user that
// may not enter it.
func TestMain(m *testing.M) {
	switch task := os.Getenv("LLMTOP_TEST_TASK"); {
	case task == "listen":
		listenHere()
	case strings.HasPrefix(task, "get "):
		e, err := ParseEndpoint(strings.TrimPrefix(task, "get "))
		if err == nil {
			_, err = NewFetcher(e, e.Page(), FetchOptions{}).Get(context.Background(), nil)
		}
		fmt.Println(err)
	default:
		os.Exit(m.Run())
	}
}

// listenHere brings this namespace's loopback up and serves pages until the input ends.
func listenHere() {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err == nil {
		var ifr *unix.Ifreq
		if ifr, err = unix.NewIfreq("lo"); err == nil {
			ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
			err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
		}
	}
	var l net.Listener
	if err == nil {
		l, err = net.Listen("tcp", "127.0.0.1:8000")
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listening")
	go http.Serve(l, http.HandlerFunc(echo))
	io.Copy(io.Discard, os.Stdin)
}

// inNamespace starts a server in a network namespace of its own.
func inNamespace(t *testing.T) (pid int, netns uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LLMTOP_TEST_TASK=listen")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no network namespace can be made here: %v", err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "listening\n" {
		t.Skipf("nothing can listen in a namespace of its own here: %s", line)
	}
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(link, "net:[%d]", &netns); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, netns
}

func TestAnotherNamespace(t *testing.T) {
	pid, netns := inNamespace(t)
	own, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 16 { // many at a time, none may leave a thread behind in there
		wait.Go(func() {
			name := fmt.Sprintf("http://127.0.0.1:8000#netns=%d", netns)
			if i%2 == 0 {
				name = fmt.Sprintf("http://127.0.0.1:8000#pid=%d", pid)
			}
			if got, err := get(t, name, Access{}); err != nil || got != "127.0.0.1:8000/metrics" {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
		})
	}
	wait.Wait()
	threads, err := filepath.Glob("/proc/self/task/*/ns/net")
	if err != nil || len(threads) == 0 {
		t.Fatal(threads, err)
	}
	for _, thread := range threads {
		if now, err := os.Readlink(thread); err == nil && now != own {
			t.Errorf("%s is in %s, not in %s", thread, now, own)
		}
	}
	for name, want := range map[string]string{
		fmt.Sprintf("http://127.0.0.1:8001#netns=%d", netns): "nothing listens there",
		fmt.Sprintf("http://[::1]:8000#netns=%d", netns):     "",
		"http://127.0.0.1:8000#netns=1":                      "no process that is seen from here is in it any more",
		"http://127.0.0.1:8000#pid=1073741824":               "there is no such process any more",
	} {
		if _, err := get(t, name, Access{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnotherNamespaceGivesUp(t *testing.T) {
	pid, _ := inNamespace(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n := &namespace{pid: pid}
	if c, err := n.dial(ctx, "127.0.0.1:8000"); err == nil {
		c.Close()
	} else if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := n.dial(context.Background(), "localhost:8000"); err == nil || !strings.Contains(err.Error(), "is not an address") {
		t.Errorf("a name: %v", err)
	}
}

// An ordinary user is told what is missing.
func TestAnotherNamespaceAsAnotherUser(t *testing.T) {
	pid, netns := inNamespace(t)
	for _, name := range []string{fmt.Sprintf("http://127.0.0.1:8000#netns=%d", netns), fmt.Sprintf("http://127.0.0.1:8000#pid=%d", pid)} {
		if said := asNobody(t, "get "+name); !strings.Contains(said, "entering it needs root (CAP_SYS_ADMIN and CAP_SYS_PTRACE)") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// asNobody runs this test program as an ordinary user.
func asNobody(t *testing.T, task string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir, err := os.MkdirTemp("", "llmtop")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "test")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, program, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	cmd.Dir, cmd.Env = "/", []string{"LLMTOP_TEST_TASK=" + task}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("no program can be run as another user here: %v %s", err, out)
	}
	return string(out)
}
