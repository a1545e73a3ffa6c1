package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/demo"
	"llmtop/panes"
)

type demoOptions struct {
	fault    string
	headless bool
	length   time.Duration
	json     bool
	seed     uint64
	after    time.Duration
	threads  int
	twin     twinFlags
	live     liveOptions
}

func newDemoCommand() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: engine, load, screen, and after a while a fault",
		Long: `Starts llmtop's own engine and a load on it as child processes, attaches the live screen,
and lets a fault happen at a random moment after --after. The screen is not told which.
With --twin h100x8 the engine is simulated at the scale of GPUs, and those can fail as well;
with --twin-at nothing happens but what that says (docs/twin-live.md).

Faults: ` + strings.Join(demo.IDs(), ", ") + `.
With --twin: ` + strings.Join(demo.TwinIDs(), ", ") + `.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.fault, "fault", "queue-backlog", "what happens (`id`; none: nothing)")
	f.BoolVar(&o.headless, "headless", false, "no screen: print verdicts")
	f.DurationVar(&o.length, "for", 0, "end this long after the load has begun (0: until interrupted)")
	f.BoolVar(&o.json, "json", false, "with --headless: one JSON object a line, for each sample")
	f.Uint64Var(&o.seed, "seed", 0, "the same seed, the same requests and moments (0: random)")
	f.DurationVar(&o.after, "after", 30*time.Second, "the fault begins between this and one and a half times this")
	f.IntVar(&o.threads, "threads", 0, "threads of the engine (0: half of the cores)")
	o.twin.add(cmd)
	f.StringVar(&o.live.record, "record", "", "keep everything in this recording (a new `file`)")
	return cmd
}

func runDemo(cmd *cobra.Command, o demoOptions) error {
	o.live.interval = time.Second
	if err := cmp.Or(checkDuration("for", o.length), checkDuration("after", o.after)); err != nil {
		return err
	}
	if o.threads < 0 {
		return usage(fmt.Errorf("--threads %d: must not be negative", o.threads), "")
	}
	fault, twin, err := o.subject(cmd)
	if err != nil {
		return err
	}
	if err := noTerminal(); !o.headless && err != nil {
		return usage(err, "llmtop demo --headless prints verdicts instead")
	}
	exe, err := os.Executable()
	if err != nil {
		return failed(fmt.Errorf("finding this program: %w", err), "")
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1 << 40)
	}
	log := demoLog(cmd.ErrOrStderr(), o.headless)
	if twin == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "starting the engine and measuring what this machine can serve …\n")
	}
	d, err := demo.Start(cmd.Context(), demo.Config{Exe: exe, Fault: fault, Twin: twin, Threads: o.threads, After: o.after, Seed: o.seed, Log: log})
	if err != nil {
		return failed(err, "")
	}
	defer d.Stop()
	if o.length > 0 { // from here: a slow start of the engine is no part of it
		ctx, cancel := context.WithTimeout(cmd.Context(), o.length)
		defer cancel()
		cmd.SetContext(ctx)
	}
	return attachDemo(cmd, d, o)
}

// subject is what is shown: a fault, and the simulated engine that it happens to.
func (o *demoOptions) subject(cmd *cobra.Command) (demo.Fault, *demo.Twin, error) {
	if err := o.twin.check(cmd); err != nil {
		return demo.Fault{}, nil, err
	}
	if o.twin.gpu == "" {
		fault, err := demo.Lookup(o.fault)
		if err != nil {
			err = usage(err, "causes that need a GPU can be shown on a simulated one: --twin h100x8")
		}
		return fault, nil, err
	}
	if len(o.twin.turns) > 0 && !cmd.Flags().Changed("fault") {
		o.fault = demo.None
	}
	fault, err := demo.LookupTwin(o.fault)
	if err != nil {
		return fault, nil, usage(err, "")
	}
	sc, err := o.twin.scenario(cmd)
	if err != nil {
		return fault, nil, err
	}
	return fault, &demo.Twin{Serve: o.twin.args(), Deployment: sc.Deployment(), Sequences: sc.Limits.MaxNumSeqs}, nil
}

// demoLog tells what the demo does; on the screen it would spoil the guess, and the picture.
func demoLog(out io.Writer, headless bool) func(string, ...any) {
	return func(format string, args ...any) {
		if headless {
			fmt.Fprintf(out, format+"\n", args...)
		}
	}
}

func attachDemo(cmd *cobra.Command, d *demo.Demo, o demoOptions) error {
	to := attachOptions{urls: []string{d.URL}, interval: o.live.interval}
	if err := to.ready(cmd.Context(), cmd.ErrOrStderr(), 0, nil); err != nil {
		return err
	}
	collector := attach(to)
	defer collector.Close()
	if !o.headless {
		return watch(cmd, collector, o.live, panes.Frame{Title: "demo " + d.URL, Waiting: "waiting for the engine"})
	}
	s, err := newSession(collector)
	if err != nil {
		return failed(err, "")
	}
	if o.live.record != "" {
		if s.recorder, err = createRecording(cmd.ErrOrStderr(), o.live.record, o.live.interval); err != nil {
			return err
		}
		defer s.recorder.Close()
	}
	return headless(cmd, s, d, o)
}

// headless prints verdicts until the time is over; it never fails for what they say.
func headless(cmd *cobra.Command, s *session, d *demo.Demo, o demoOptions) error {
	p := printer{out: cmd.OutOrStdout(), json: o.json}
	for {
		tick, err := s.next(cmd.Context())
		if err != nil {
			return nil
		}
		if err := p.watch(&tick.Diagnosis); err != nil {
			return failed(err, "")
		}
		select {
		case err := <-d.Failed():
			return failed(err, "")
		default:
		}
	}
}
