// Llmtop tells why an LLM serving engine is slow.
//
// Attached to a running engine it shows, once a second, the verdict on top: the
// cause by name, the numbers that prove it, the numbers that rule its look-alikes
// out, and the next step with its price. Without a URL it attaches to the engines
// that serve on this host, and says what keeps others from being read:
//
//	$ llmtop http://127.0.0.1:8000
//
// The same frame once, as plain text:
//
//	$ llmtop --once http://127.0.0.1:8000
//
// Keep an incident, with the screen or without it, and look at it later, offline,
// exactly as it was live:
//
//	$ llmtop --record incident.llmrec http://127.0.0.1:8000
//	$ llmtop record -o incident.llmrec --duration 5s http://127.0.0.1:8000
//	$ llmtop info incident.llmrec
//	$ llmtop replay incident.llmrec
//	$ llmtop replay --once incident.llmrec
//	$ llmtop diagnose incident.llmrec
//	$ llmtop mark add incident.llmrec "load doubled"
//	$ llmtop mark list incident.llmrec
//
// Always have the last day at hand, in a directory of files that stays bounded
// (docs/recording.md); what takes a recording takes the directory too:
//
//	$ llmtop record --store recordings --retain 24h --max-size 500M http://127.0.0.1:8000
//	$ llmtop replay recordings
//
// A recording for other tools, a part of it, one without names, and what is left of a
// damaged one. Nothing is ever overwritten:
//
//	$ llmtop export incident.llmrec --format csv
//	$ llmtop export incident.llmrec --format openmetrics --raw
//	$ llmtop export incident.llmrec --format perfetto
//	$ llmtop extract incident.llmrec --from 1s --to 3s -o part.llmrec
//	$ llmtop redact incident.llmrec -o shared.llmrec
//	$ llmtop verify incident.llmrec
//	$ llmtop repair incident.llmrec -o whole.llmrec
//	$ llmtop profile incident.llmrec --list
//
// Hold one stretch of time against another, of one recording or of two: where the added
// latency went, and which signals moved by more than their noise:
//
//	$ llmtop compare incident.llmrec@0s..3s incident.llmrec@-3s..
//
// A verdict for scripts. The exit status is 0 healthy, 1 degraded, 2 usage,
// 3 nothing measurable, 4 degraded with unknown cause:
//
//	$ llmtop diagnose --json http://127.0.0.1:8000
//
// The repository has its own serving engine and a load generator, so that all of
// it works without a GPU:
//
//	$ llmtop serve --addr 127.0.0.1:8000
//	$ llmtop load --rate 2 --duration 3s http://127.0.0.1:8000
//	$ llmtop demo
//
// Or a twin of it at the scale of GPUs, in virtual time: what runs and what goes wrong stands in
// a text file (docs/twin.md), out comes a recording. In real time it answers HTTP
// (docs/twin-live.md):
//
//	$ llmtop twin list scenarios
//	$ llmtop twin check kv-pool
//	$ llmtop twin run kv-pool -o kv-pool.llmrec
//	$ llmtop twin trace kv-pool.llmrec -o requests.csv
//	$ llmtop serve --twin h100x8 --twin-model "llama-3-70b fp8"
//	$ llmtop demo --twin h100x8 --fault power-cap
//
// Incidents whose cause is known, to be named by you, or by llmtop: the score of the diagnosis
// (docs/drills.md):
//
//	$ llmtop drill list
//	$ llmtop drill run power-cap -o drilled.llmrec
//	$ llmtop drill play --surprise
//	$ llmtop drill score --suite ci
//
// What serves on this host, what can be read here at all (docs/gpu.md), several engines as
// one service, the engine's log, its traces, and a small request of llmtop's own
// (docs/engines.md, logs.md, otlp.md):
//
//	$ llmtop find
//	$ llmtop doctor
//	$ llmtop http://127.0.0.1:8000 http://127.0.0.1:8001
//	$ llmtop --log auto --otlp 127.0.0.1:4318 --canary 10s http://127.0.0.1:8000
//
// Llmtop only reads: it never changes the engine, the GPU or the host, has the engine
// generate nothing unless --canary says so, and no prompt or answer is stored or shown.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit statuses of diagnose; the other commands use 0, 1 (it went wrong) and 2.
const (
	exitOK           = 0
	exitDegraded     = 1
	exitUsage        = 2
	exitUnmeasurable = 3
	exitUnknown      = 4
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main for tests: it parses args, runs the command and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	defer spareSIGUSR1()()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return exitOK
	case !errors.As(err, &exit):
		exit = &exitError{code: exitUsage, err: err} // cobra's own errors are about usage
	}
	if exit.err != nil {
		fmt.Fprintf(stderr, "llmtop: %s\n", oneLine(exit.err.Error()))
		if exit.hint != "" {
			fmt.Fprintf(stderr, "  %s\n", exit.hint)
		}
	}
	return exit.code
}

// untilSignal returns a context that ends with the first signal. That one asks, the
// next one kills: by the time the context ends signals do again what they usually do.
func untilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
		}
		signal.Stop(signals)
		cancel()
	}()
	return ctx, cancel
}
