package inject

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"llmtop/cmd/llmtop/internal/child"
)

// Site is the run that an injector works on, and all it may touch.
type Site struct {
	Exe      string // this program
	Dir      string // a directory of this run alone, removed after it
	Seed     uint64
	Threads  int     // of the engine's forward pass
	Capacity float64 // requests per second that the engine serves of the everyday shape, measured on this machine before
	Everyday Stream
	Log      func(format string, args ...any)

	Serve []string // flags of serve, the drill's own; a Preparer may add
	Env   []string // of the engine's process; a Preparer may add

	Engine  *child.Child // PID(), Say(line): control lines of the wrappers at its seams. Another one after Restart
	URL     string       // the engine's address
	LoadURL string       // where the load goes: the same, or a Router's
	Clients *child.Child // the everyday load

	requests []string // files in which the loads write what they measured
}

// Stream is a stream of requests of a load of its own.
type Stream struct {
	Share float64  // requests per second, as a share of what the engine can serve of the everyday shape
	Flags []string // of load, such as --prompt-tokens 450
}

// Spawn runs this program with other arguments, as a process that ends with ctx and with
// this one; who starts it stops it.
func (s *Site) Spawn(ctx context.Context, args ...string) (*child.Child, error) {
	return child.Command{Exe: s.Exe, Args: args}.Start(ctx)
}

// How long things may take.
const (
	startTime = 30 * time.Second // of an engine
	loadGrace = 10 * time.Second // for a load to give up its requests and to write what it measured
)

// Load puts a stream on the engine beside the others. What its clients see is measured
// with the rest. Who starts it stops it.
func (s *Site) Load(ctx context.Context, stream Stream) (*child.Child, error) {
	n := len(s.requests)
	file := filepath.Join(s.Dir, fmt.Sprintf("requests-%d.jsonl", n))
	args := append([]string{"load", cmp.Or(s.LoadURL, s.URL),
		"--rate", strconv.FormatFloat(stream.Share*s.Capacity, 'f', 3, 64), "--duration", "0s",
		"--seed", strconv.FormatUint(s.Seed*1000+uint64(n), 10), "--requests", file}, stream.Flags...)
	c, err := child.Command{Exe: s.Exe, Args: args, Grace: loadGrace}.Start(ctx)
	if err != nil {
		return nil, err
	}
	s.requests = append(s.requests, file)
	return c, nil
}

// Restart ends the engine and, when it has been away for so long, starts it again at the
// same address with more flags, which override those it had.
func (s *Site) Restart(ctx context.Context, away time.Duration, flags ...string) error {
	s.Engine.Stop()
	select {
	case <-time.After(away):
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.serve(ctx, strings.TrimPrefix(s.URL, "http://"), append(s.Serve[:len(s.Serve):len(s.Serve)], flags...)...)
}

// serve starts an engine and waits for its address.
func (s *Site) serve(ctx context.Context, addr string, flags ...string) error {
	args := append([]string{"serve", "--addr", addr, "--log", "off", "--threads", strconv.Itoa(s.Threads)}, flags...)
	engine, err := child.Command{Exe: s.Exe, Args: args, Env: s.Env}.Start(ctx)
	if err != nil {
		return err
	}
	s.Engine = engine
	s.URL, err = engine.URL(ctx, startTime)
	return err
}
