//go:build linux

package panes

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/sys/unix"
)

// terminal is a pseudo terminal: what its user would see arrives at the master.
type terminal struct {
	master *os.File
	path   string
}

func newTerminal(t *testing.T, w, h uint16) *terminal {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("LANG", "C.UTF-8")
	t.Setenv("LC_ALL", "C.UTF-8")
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: w, Row: h}); err != nil {
		t.Fatal(err)
	}
	return &terminal{master, fmt.Sprintf("/dev/pts/%d", n)}
}

func (p *terminal) modes(t *testing.T) unix.Termios {
	t.Helper()
	modes, err := unix.IoctlGetTermios(int(p.master.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *modes
}

func (p *terminal) open(t *testing.T) tcell.Screen {
	t.Helper()
	screen, err := openTerminal(p.path)
	if err != nil {
		t.Fatal(err)
	}
	return screen
}

// read collects what is written to the terminal until it contains want.
func (p *terminal) read(t *testing.T, want string) string {
	t.Helper()
	var all bytes.Buffer
	chunk := make([]byte, 4096)
	for !strings.Contains(all.String(), want) {
		n, err := p.master.Read(chunk)
		all.Write(chunk[:n])
		if err != nil {
			t.Fatalf("waiting for %q: %v after %q", want, err, all.String())
		}
	}
	return all.String()
}

// TestTerminalIsRestored takes a real terminal over and gives it back: the same
// modes as before, the alternate screen left, the cursor shown.
func TestTerminalIsRestored(t *testing.T) {
	p := newTerminal(t, 80, 24)
	before := p.modes(t)
	a := NewApp(p.open(t), &recorder{})
	done := make(chan error, 1)
	go func() { done <- a.Run() }()
	a.Show(normalFrame())
	shown := p.read(t, "q quit")
	if !strings.Contains(shown, "\x1b[?1049h") || !strings.Contains(shown, "HEALTHY") {
		t.Errorf("no picture on the alternate screen: %q", shown)
	}
	if reflect.DeepEqual(p.modes(t), before) {
		t.Error("the terminal is not in raw mode: keys would echo")
	}
	if _, err := p.master.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	left := p.read(t, "\x1b[?1049l")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !strings.Contains(shown+left, "\x1b[?25h") && !strings.Contains(left, "\x1b[34h\x1b[?25h") {
		t.Errorf("the cursor stays hidden: %q", left)
	}
	if got := p.modes(t); !reflect.DeepEqual(got, before) {
		t.Errorf("modes %+v, were %+v", got, before)
	}
}

// TestTerminalWithoutSize is a pseudo terminal of 0x0.
func TestTerminalWithoutSize(t *testing.T) {
	t.Setenv("COLUMNS", "")
	t.Setenv("LINES", "")
	p := newTerminal(t, 0, 0)
	screen := p.open(t)
	w, h := screen.Size()
	go p.master.Read(make([]byte, 65536))
	screen.Fini()
	if w != 80 || h != 24 {
		t.Errorf("got %dx%d, want 80x24", w, h)
	}
}

// TestStalledTerminal is one whose other end reads nothing: frames are dropped,
// nothing backs up, and SIGTERM still ends Run.
func TestStalledTerminal(t *testing.T) {
	p := newTerminal(t, 1000, 300) // one picture is larger than all buffers of the terminal
	before := p.modes(t)
	a := NewApp(p.open(t), &recorder{})
	a.patience = time.Millisecond
	done := make(chan error, 1)
	go func() { done <- a.Run() }()
	frame := firingFrame()
	for range 1000 {
		a.Show(frame)
	}
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGTERM) // one that comes before Run listens ends nothing
	defer signal.Stop(heard)
	var err error
	for ended := false; !ended; {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-heard
		select {
		case err = <-done:
			ended = true
		default:
		}
	}
	if !errors.Is(err, ErrStalled) {
		t.Errorf("got %v, want ErrStalled", err)
	}
	if !reflect.DeepEqual(p.modes(t), before) {
		t.Error("echo and line editing were not put back")
	}
	screen, _ := a.screen.Tty()
	if err := screen.Stop(); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

func TestNoTerminal(t *testing.T) {
	if _, err := openTerminal("/dev/null"); err == nil || !strings.Contains(err.Error(), "opening the terminal") {
		t.Errorf("got %v", err)
	}
	p := newTerminal(t, 80, 24)
	t.Setenv("TERM", "no-such-terminal")
	if _, err := openTerminal(p.path); err == nil || !strings.Contains(err.Error(), "no-such-terminal") {
		t.Errorf("got %v", err)
	}
}
