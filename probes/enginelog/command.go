package enginelog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"llmtop/probes"
)

// Timing and bounds of programs that print a log.
const (
	askWait   = 5 * time.Second // how long a program may take to say whether there is such a log
	againMin  = time.Second     // before a program that ended is started again
	againMax  = 30 * time.Second
	lasted    = time.Minute // a program that ran so long is started again soon
	saysAlive = pollEvery
	maxWords  = 200 // bytes of a program's own words that are shown
)

// command is a log that a program prints: journalctl, docker, podman.
type command struct {
	sink  *sink
	of    printer
	lines atomic.Bool // some have come
}

// printer says how a log is had from programs.
type printer struct {
	programs []string // the first one that knows the log is taken
	none     string   // what is said when there is none of them
	ask      []string // arguments with which the program says whether there is the log; none: not asked
	print    func(since time.Time) []string
	answers  bool   // what the program prints on standard error are its own words, not lines of the log
	blind    string // words by which it says that it may not see the log
}

func newCommand(s *sink, of printer) *command { return &command{sink: s, of: of} }

// run starts the program, and again when it ends, until ctx ends.
func (c *command) run(ctx context.Context) {
	wait := againMin
	var since time.Time // when the last one ended; zero at first
	for {
		began := time.Now()
		err := c.once(ctx, since)
		if ctx.Err() != nil {
			return
		}
		c.sink.fail(err)
		if since.IsZero() || !errors.Is(err, errNoLog) {
			since = time.Now()
		}
		if time.Since(began) >= lasted {
			wait = againMin
		}
		if !pause(ctx, wait) {
			return
		}
		wait = min(2*wait, againMax)
	}
}

var errNoLog = errors.New("no log")

// once runs the program until it ends and says how it ended.
func (c *command) once(ctx context.Context, since time.Time) error {
	defer besideParent()()
	program, err := c.pick(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoLog, err)
	}
	cmd := exec.Command(program, c.of.print(since)...)
	cmd.Env, cmd.SysProcAttr, cmd.WaitDelay = environment(), ownGroup(), time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}
	words, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}
	defer context.AfterFunc(ctx, func() {
		killGroup(cmd.Process)
		_, _ = out.Close(), words.Close() // whoever else has them open
	})()
	running, ended := context.WithCancel(ctx)
	defer ended()
	said := &answer{}
	var pumps, beat sync.WaitGroup
	pumps.Go(func() { c.sink.guarded(func() { c.pump(out) }) })
	pumps.Go(func() {
		c.sink.guarded(func() {
			if c.of.answers {
				_, _ = io.Copy(said, words) // the pipe ends with the program
			} else {
				c.pump(words)
			}
		})
	})
	beat.Go(func() { c.alive(running, said) })
	pumps.Wait() // before the program is waited for, which closes the pipes
	err = cmd.Wait()
	ended()
	beat.Wait()
	return fmt.Errorf("%s: %s", base(program), saidOr(said.text(), err))
}

// alive says that the program runs: that it prints nothing is no lack of readings, unless it
// may not see the log.
func (c *command) alive(ctx context.Context, said *answer) {
	for {
		text := said.text()
		if c.of.blind != "" && strings.Contains(text, c.of.blind) && !c.lines.Load() {
			c.sink.fail(fmt.Errorf("this user may not see the log: %s", text))
		} else {
			c.sink.read(0, 0, nil)
		}
		if !pause(ctx, saysAlive) {
			return
		}
	}
}

// pump reads lines, perPoll bytes in each pollEvery; what comes faster is left out.
func (c *command) pump(r io.Reader) {
	lines := splitter{line: func(line []byte) { c.sink.line(line, false) }}
	buffer := make([]byte, piece)
	budget, until := perPoll, time.Now().Add(pollEvery)
	for {
		n, err := r.Read(buffer)
		if now := time.Now(); now.After(until) {
			budget, until = perPoll, now.Add(pollEvery)
		}
		left := 0
		if n <= budget {
			lines.feed(buffer[:n])
			budget -= n
		} else {
			lines.drop()
			budget, left = 0, n
		}
		if err != nil {
			lines.flush()
		}
		count, skipped := lines.take()
		if count > 0 {
			c.lines.Store(true)
		}
		c.sink.read(count, skipped+left, nil)
		if err != nil {
			return
		}
	}
}

// pick finds the program that has the log.
func (c *command) pick(ctx context.Context) (string, error) {
	failed := errors.New(c.of.none)
	for _, name := range c.of.programs {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if len(c.of.ask) == 0 {
			return path, nil
		}
		if err := c.asked(ctx, path); err != nil {
			failed = err
			continue
		}
		return path, nil
	}
	return "", failed
}

// asked asks a program whether it has the log. What it prints on standard error are its own
// words; what it prints on standard output is nobody's business.
func (c *command) asked(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, c.of.ask...)
	said := &answer{}
	cmd.Env, cmd.SysProcAttr, cmd.Stderr, cmd.WaitDelay = environment(), ownGroup(), said, time.Second
	cmd.Cancel = func() error { killGroup(cmd.Process); return nil }
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %s", askWait)
		}
		return fmt.Errorf("%s: %s", base(path), saidOr(said.text(), err))
	}
	return nil
}

// answer keeps the first words that a program says of itself. Safe for concurrent use.
type answer struct {
	mu    sync.Mutex
	words []byte
}

func (a *answer) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.words = append(a.words, b[:min(len(b), 4*maxWords-len(a.words))]...)
	return len(b), nil
}

func (a *answer) text() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return probes.Printable(string(a.words), maxWords)
}

// saidOr is what a program said, or else how it ended.
func saidOr(words string, err error) string {
	switch {
	case words != "":
		return words
	case err != nil:
		return err.Error()
	}
	return "the log ended; it is looked for again"
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// environment is ours without what is meant for llmtop alone, a key among it.
func environment() []string {
	env := []string{"LC_ALL=C", "SYSTEMD_COLORS=0", "SYSTEMD_PAGER="}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LLMTOP_") && !strings.HasPrefix(v, "LC_ALL=") {
			env = append(env, v)
		}
	}
	return env
}
