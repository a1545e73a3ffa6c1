// Soak saturates the engine for a long time with clients that behave badly, lets it
// come to rest, and looks whether anything is left behind: KV blocks, goroutines,
// file descriptors, memory, requests, or requests that nobody accounts for.
//
//	go run ./scripts/soak -for 1h                     an engine of its own, in a child process
//	go run ./scripts/soak -for 5m -url http://h:8000  an llmtop engine that runs already, and serves nobody else
//
// It prints a line a minute and a table of checks, and ends with status 1 when one fails.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"llmtop/scripts/internal/child"
)

// plan is what to do.
type plan struct {
	url     string
	length  time.Duration // of the load
	warm    time.Duration // load before the state to compare with is taken
	every   time.Duration // between the lines of the table
	clients int           // that send at once; more than the engine takes
	sizes   sizes         // of the requests
	seed    uint64
	slack   slack
}

func main() {
	p := plan{slack: usual, sizes: sizes{prompt: 2500, answer: 200}}
	flag.DurationVar(&p.length, "for", time.Hour, "how long to put the load on")
	flag.DurationVar(&p.warm, "warm", 10*time.Minute, "load before the state to compare with is taken: until what the engine keeps is full, its last requests and the encodings of recent texts")
	flag.DurationVar(&p.every, "every", time.Minute, "time between two lines")
	flag.IntVar(&p.clients, "clients", 64, "clients at once")
	flag.Uint64Var(&p.seed, "seed", 1, "of the clients' choices")
	flag.StringVar(&p.url, "url", "", "an llmtop engine that runs already (default: one of our own)")
	flag.Parse()
	passed, err := run(p)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	}
	if !passed {
		os.Exit(1)
	}
}

// small limits, so that a few dozen clients fill the queue and the KV cache, and
// sequences lose their blocks all the time. The draft model follows them.
var small = []string{"--max-num-seqs", "16", "--num-blocks", "256", "--max-num-batched-tokens", "256", "--kv-headroom", "0", "--speculative", "draft"}

func run(p plan) (passed bool, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if p.url == "" {
		exe, err := child.Build()
		if err != nil {
			return false, err
		}
		defer exe.Remove()
		e, err := exe.Serve(small...)
		if err != nil {
			return false, err
		}
		defer e.Stop()
		p.url = e.URL
	}
	return soak(ctx, p, os.Stdout)
}

// soak carries out a plan; when ctx ends the load ends early, and what was seen is judged.
func soak(ctx context.Context, p plan, out io.Writer) (passed bool, err error) {
	p.url = strings.TrimRight(p.url, "/")
	l := newLedger()
	e := newEngineView(p.url)
	if err := e.begin(); err != nil {
		return false, err
	}
	fmt.Fprintf(out, "%s: %d clients for %s, after %s of warm-up\n", p.url, p.clients, p.length, p.warm)
	if err := e.follow(l, func() { loadFor(ctx, p.warm, p, l) }); err != nil {
		return false, err
	}
	before, err := e.rest()
	if err != nil {
		return false, fmt.Errorf("after the warm-up: %w", err)
	}
	t := table{out: out, view: e, ledger: l, started: time.Now()}
	t.head()
	err = e.follow(l, func() {
		defer t.each(p.every)()
		loadFor(ctx, p.length, p, l)
	})
	if err != nil {
		return false, err
	}
	after, err := e.rest()
	t.line()
	if err != nil {
		return false, err
	}
	return report(out, append(leftovers(before, after, p.slack), balance(after.page.since(e.first), l.copy())...)), nil
}
