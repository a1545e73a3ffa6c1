// Package child runs processes of this very program that end with it, not even kill -9
// of the parent leaves one behind: a child holds the reading end of a pipe as its
// standard input and ends when that closes (see Parent). Over the same pipe it takes
// control lines.
package child

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

// Command says what to run.
type Command struct {
	Exe   string
	Args  []string      // --with-parent is added
	Env   []string      // in addition to this process's own
	Grace time.Duration // how long it may take to end when asked to; 0: 2 s
}

// Child is a running process.
type Child struct {
	name  string
	grace time.Duration
	cmd   *exec.Cmd
	stdin io.WriteCloser
	first chan string // its first line of output
	done  chan struct{}

	mu   sync.Mutex
	tail string // its last line on standard error
}

// Start runs the command; the child ends with ctx.
func (c Command) Start(ctx context.Context) (*Child, error) {
	if c.Grace == 0 {
		c.Grace = 2 * time.Second
	}
	cmd := exec.CommandContext(ctx, c.Exe, append(c.Args[:len(c.Args):len(c.Args)], "--with-parent")...)
	cmd.WaitDelay = c.Grace
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if len(c.Env) > 0 {
		cmd.Env = append(os.Environ(), c.Env...)
	}
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
		return nil, fmt.Errorf("starting %s: %w", c.Args[0], err)
	}
	p := &Child{name: c.Args[0], grace: c.Grace, cmd: cmd, stdin: stdin, first: make(chan string, 1), done: make(chan struct{})}
	var readers sync.WaitGroup
	readers.Go(func() { p.readOutput(stdout) })
	readers.Go(func() { p.readErrors(stderr) })
	go func() {
		readers.Wait()
		cmd.Wait() // its status is told by what it printed
		close(p.done)
	}()
	return p, nil
}

func (c *Child) readOutput(r io.Reader) {
	lines := bufio.NewReader(io.LimitReader(r, 1<<20))
	if line, err := lines.ReadString('\n'); err == nil {
		c.first <- strings.TrimSpace(line)
	}
	close(c.first)
	io.Copy(io.Discard, r)
}

func (c *Child) readErrors(r io.Reader) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		c.mu.Lock()
		c.tail = lines.Text()
		c.mu.Unlock()
	}
	io.Copy(io.Discard, r)
}

// PID is the process's number.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// First yields the first line that the child prints; it is closed when there is none.
func (c *Child) First() <-chan string { return c.first }

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Say writes a control line to the child (see Parent).
func (c *Child) Say(line string) error {
	_, err := fmt.Fprintln(c.stdin, line)
	return err
}

// Err says why the child ended, as far as it told.
func (c *Child) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tail == "" {
		return fmt.Errorf("%s ended", c.name)
	}
	return fmt.Errorf("%s ended: %s", c.name, c.tail)
}

// Stop ends the child and waits for it; a second time it does nothing.
func (c *Child) Stop() {
	c.stdin.Close()
	select {
	case <-c.done:
	case <-time.After(c.grace):
		c.cmd.Process.Kill()
		<-c.done
	}
}

// URL waits for the first line of a server and returns the address in it.
func (c *Child) URL(ctx context.Context, within time.Duration) (string, error) {
	select {
	case line, ok := <-c.first:
		if !ok {
			<-c.done
			return "", c.Err()
		}
		at := strings.Index(line, "http://")
		if at < 0 {
			return "", fmt.Errorf("%s does not tell its address but %q", c.name, line)
		}
		url, _, _ := strings.Cut(line[at:], " ")
		return url, nil
	case <-time.After(within):
		return "", fmt.Errorf("%s did not come up within %s", c.name, within)
	case <-ctx.Done():
		return "", ctx.Err()
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
