// Hostgate does to a process what happens to engines on a host (a CPU quota, six hogs, one
// interpreter lock, too little memory, a file system that stops, …), and looks whether
// llmtop's readings say so.
//
//	go run ./scripts/hostgate                 all cases, about 4 minutes
//	go run ./scripts/hostgate -only quota,gil
//
// Each case starts a stand-in for an engine, a process that serves a page of metrics and
// does one thing, and records it with `llmtop record`. What is printed are the medians of
// the last seconds beside what is wanted; status 1 says that one was missed. Cases that
// need root or a tool that is not there say so and count for nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"llmtop/scripts/internal/child"
)

func main() {
	only := flag.String("only", "", "cases to run, by name, with commas between; empty: all")
	be := flag.String("be", "", "be a stand-in (the program starts itself so)")
	flag.Parse()
	if *be != "" {
		if err := standIn(*be, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "hostgate:", *be+":", err)
			os.Exit(2)
		}
		return
	}
	missed, err := gate(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostgate:", err)
		os.Exit(2)
	}
	if missed > 0 {
		fmt.Printf("%d readings missed\n", missed)
		os.Exit(1)
	}
}

// errCannot is why a case cannot be played here.
var errCannot = errors.New("cannot be played here")

func gate(only string) (missed int, err error) {
	ctx, end := signal.NotifyContext(context.Background(), os.Interrupt)
	defer end()
	llmtop, err := child.Build()
	if err != nil {
		return 0, err
	}
	defer llmtop.Remove()
	dir, err := os.MkdirTemp("", "hostgate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%-10s %-28s %12s  %s\n", "case", "signal", "seen", "wanted")
	for _, c := range cases {
		if only != "" && !slices.Contains(strings.Split(only, ","), c.name) {
			continue
		}
		n, err := c.run(ctx, llmtop.Path, dir)
		switch {
		case errors.Is(err, errCannot):
			fmt.Printf("%-10s %v\n", c.name, err)
		case err != nil:
			return missed, fmt.Errorf("%s: %w", c.name, err)
		}
		missed += n
	}
	return missed, ctx.Err()
}
