package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// onTerminal is llmtop on a pseudo terminal of its own.
type onTerminal struct {
	cmd *exec.Cmd
	tty *os.File // our end

	mu      sync.Mutex
	output  bytes.Buffer
	changed chan struct{}
	ended   chan error
}

func startOnTerminal(t testing.TB, cols, rows uint16, args ...string) *onTerminal {
	t.Helper()
	ours, theirs := openPTY(t)
	if cols > 0 {
		if err := unix.IoctlSetWinsize(int(ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols}); err != nil {
			t.Fatal(err)
		}
	}
	link := programIn(t, t.TempDir())
	cmd := exec.Command(link, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	o := &onTerminal{cmd: cmd, tty: ours, changed: make(chan struct{}, 1), ended: make(chan error, 1)}
	drained := make(chan struct{})
	go func() { defer close(drained); o.drain() }()
	go func() { err := cmd.Wait(); <-drained; o.ended <- err }()
	t.Cleanup(func() { cmd.Process.Kill(); ours.Close() })
	return o
}

func openPTY(t testing.TB) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	return ours, theirs
}

func (o *onTerminal) drain() {
	buf := make([]byte, 32<<10)
	for {
		n, err := o.tty.Read(buf)
		o.mu.Lock()
		o.output.Write(buf[:n])
		o.mu.Unlock()
		select {
		case o.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (o *onTerminal) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.output.String()
}

// waitFor blocks until the output holds want.
func (o *onTerminal) waitFor(t testing.TB, want string) {
	t.Helper()
	late := time.After(30 * time.Second)
	for !strings.Contains(o.text(), want) {
		select {
		case <-o.changed:
		case <-late:
			t.Fatalf("no %q on the screen within 30 s; there is %q", want, o.text())
		}
	}
}

// waitEnd blocks until llmtop ended and returns its exit status.
func (o *onTerminal) waitEnd(t testing.TB) int {
	t.Helper()
	select {
	case <-o.ended:
		return o.cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		t.Fatalf("llmtop did not end within 30 s; the screen is %q", o.text())
		return -1
	}
}

// The sequences that leave the alternate screen and show the cursor again.
const (
	leaveScreen = "\x1b[?1049l"
	showCursor  = "\x1b[?25h"
)

// TestTerminalIsRestored ends the live screen in every way there is, and looks for
// the alternate screen left and the cursor shown as the last things written.
func TestTerminalIsRestored(t *testing.T) {
	for name, end := range map[string]func(o *onTerminal) error{
		"q":       func(o *onTerminal) error { _, err := io.WriteString(o.tty, "q"); return err },
		"ctrl-c":  func(o *onTerminal) error { _, err := io.WriteString(o.tty, "\x03"); return err },
		"SIGTERM": func(o *onTerminal) error { return o.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(o *onTerminal) error { return o.cmd.Process.Signal(syscall.SIGHUP) },
		"SIGINT":  func(o *onTerminal) error { return o.cmd.Process.Signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			o := startOnTerminal(t, 80, 24, "http://127.0.0.1:1")
			o.waitFor(t, "UNMEASURABLE")
			if err := end(o); err != nil {
				t.Fatal(err)
			}
			if code := o.waitEnd(t); code != 0 {
				t.Errorf("exit status %d, want 0", code)
			}
			after := o.text()[strings.LastIndex(o.text(), "UNMEASURABLE"):]
			for _, want := range []string{leaveScreen, showCursor} {
				if !strings.Contains(after, want) {
					t.Errorf("%q was not written at the end", want)
				}
			}
		})
	}
}

// TestTerminalWithoutSize starts on a terminal that says 0x0, as some containers do.
func TestTerminalWithoutSize(t *testing.T) {
	o := startOnTerminal(t, 0, 0, "http://127.0.0.1:1")
	o.waitFor(t, "UNMEASURABLE")
	io.WriteString(o.tty, "q")
	o.waitEnd(t)
}
