package demo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// child is a process of this very program. It holds the reading end of a pipe as
// its standard input and ends when that closes, so that not even kill -9 of the
// parent leaves it behind (see Parent).
type child struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	first chan string // its first line of output
	done  chan struct{}

	mu   sync.Mutex
	tail string // its last line on standard error
}

// spawn starts this program with args; the child ends with ctx.
func spawn(ctx context.Context, exe string, args ...string) (*child, error) {
	cmd := exec.CommandContext(ctx, exe, append(args, "--with-parent")...)
	cmd.WaitDelay = 2 * time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	c := &child{name: args[0], cmd: cmd, stdin: stdin, first: make(chan string, 1), done: make(chan struct{})}
	var readers sync.WaitGroup
	readers.Go(func() { c.readOutput(stdout) })
	readers.Go(func() { c.readErrors(stderr) })
	go func() {
		readers.Wait()
		cmd.Wait() // its status is told by what it printed
		close(c.done)
	}()
	return c, nil
}

func (c *child) readOutput(r io.Reader) {
	lines := bufio.NewReader(io.LimitReader(r, 1<<20))
	if line, err := lines.ReadString('\n'); err == nil {
		c.first <- strings.TrimSpace(line)
	}
	close(c.first)
	io.Copy(io.Discard, r)
}

func (c *child) readErrors(r io.Reader) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		c.mu.Lock()
		c.tail = lines.Text()
		c.mu.Unlock()
	}
	io.Copy(io.Discard, r)
}

// say writes a control line to the child (see Parent).
func (c *child) say(line string) error {
	_, err := fmt.Fprintln(c.stdin, line)
	return err
}

// err says why the child ended, as far as it told.
func (c *child) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tail == "" {
		return fmt.Errorf("%s ended", c.name)
	}
	return fmt.Errorf("%s ended: %s", c.name, c.tail)
}

// stop ends the child and waits for it.
func (c *child) stop() {
	c.stdin.Close()
	select {
	case <-c.done:
	case <-time.After(2 * time.Second):
		c.cmd.Process.Kill()
		<-c.done
	}
}

// Parent makes a process end with the one that started it: it reads control lines
// from in, gives each to handle, and calls end when in is closed.
func Parent(in io.Reader, handle func(line string), end func()) {
	go func() {
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			handle(lines.Text())
		}
		end()
	}()
}
