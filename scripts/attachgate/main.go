// Attachgate attaches to engines of which most are broken or hostile, next to a good
// one, and looks whether llmtop's collector keeps its pace and its memory.
//
//	go run ./scripts/attachgate                ticks of 1 s and of 100 ms, 20 s each, then discovery
//	go run ./scripts/attachgate -for 10s       the same, shorter
//
// The servers run in a process of their own: one that hangs, one that drips, endless
// bodies, 200 MB, a million series, 100 000 labels, a gzip bomb, redirects. Wanted:
// no tick later than 50 ms, none left out, the good engine read all the time, each of
// the others with a reason on the screen, and a bound on the memory. Discovery is
// timed when llmtop has the command find.
//
// It prints a table and ends with status 1 when a line misses. A tick that waits for a
// processor is late, too: where ticks are late with the good engine alone, the machine
// has other things to do, and the gate ends with status 2.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	length := flag.Duration("for", 20*time.Second, "how long to watch at each pace")
	serving := flag.Bool("serve", false, "be the servers (the program starts itself so)")
	flag.Parse()
	if *serving {
		if err := serveAll(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "attachgate: servers:", err)
			os.Exit(2)
		}
		return
	}
	missed, err := gate(*length)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attachgate:", err)
		os.Exit(2)
	}
	if missed > 0 {
		fmt.Printf("%d lines missed\n", missed)
		os.Exit(1)
	}
}

// paces of the ticks.
var paces = []time.Duration{time.Second, 100 * time.Millisecond}

// control watches the good engine alone: an error when the machine is too busy to tell.
func control(ctx context.Context, alone []server, length time.Duration) error {
	seen, err := watch(ctx, alone, 100*time.Millisecond, length/4)
	if err == nil && (seen.late > most || seen.left > 0) {
		err = fmt.Errorf("the machine is too busy: with one good engine alone a tick was %s late and %d were left out", seen.late.Round(time.Millisecond), seen.left)
	}
	return err
}

func gate(length time.Duration) (missed int, err error) {
	ctx, interrupt := signal.NotifyContext(context.Background(), os.Interrupt)
	defer interrupt()
	servers, stop, err := startServers()
	if err != nil {
		return 0, err
	}
	defer stop()
	if err := control(ctx, servers[:1], length); err != nil {
		return 0, err
	}
	var rows []row
	for _, pace := range paces {
		seen, err := watch(ctx, servers, pace, length)
		if err != nil {
			return 0, err
		}
		rows = append(rows, seen.judge(pace)...)
		if pace == time.Second {
			rows = append(rows, seen.reasons(servers)...)
		}
	}
	rows = append(rows, memory()...)
	found, err := discovery(ctx)
	if err != nil {
		return 0, err
	}
	missed = report(os.Stdout, append(rows, found...))
	if ctx.Err() != nil {
		return missed, errors.New("interrupted")
	}
	return missed, nil
}
