package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes"
)

// doctorOptions say what is looked at, and how the answer is printed.
type doctorOptions struct {
	attachOptions
	json bool
}

func newDoctorCommand() *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor [URL…]",
		Short: "Say what can be read on this host, what cannot, and what would help",
		Long: `Reads everything that llmtop would read, twice, and prints each probe's result, each reading
of GPU, host and engine processes or why it is missing, each call to the NVIDIA driver
with its result and latency, and last what is missing and what would give it: (+3 s) after
a reading is what it grew by between the two. One paste tells what can and cannot be read
on a host; docs/gpu.md and docs/host.md say what the readings prove.

It takes a few seconds, a quarter of a minute at most, also where a driver hangs. Nothing
secret is in it: no prompt, no command line, no key, no value of the environment beyond
the terminal's kind and language.

The exit status is 0 when nothing is broken, and a host without a GPU or an engine is not;
1 when a probe or a GPU fails.`,
		Example: "  llmtop doctor\n  llmtop doctor --json :8000 > doctor.json",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return runDoctor(cmd, args, o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "one JSON object with everything")
	o.attachOptions.flags(cmd)
	return cmd
}

func runDoctor(cmd *cobra.Command, args []string, o doctorOptions) error {
	if err := checkInterval(o.interval); err != nil {
		return err
	}
	urls, err := parseTargets(args)
	if err != nil {
		return err
	}
	o.urls = urls
	began := time.Now()
	ctx := cmd.Context()
	if err := o.ready(ctx, cmd.ErrOrStderr(), findBudget, nil); err != nil {
		return err
	}
	if o.seen == nil { // engines were named: which others there are is told all the same
		seen := look(ctx, o.reaching, findBudget)
		o.seen = &seen
	}
	a := &attached{}
	list := withoutSearch(a.scheduled(o.attachOptions))
	around := startToLook("/")
	exams := examine(ctx, list, min(o.interval, doctorPause))
	frame, looked := around.frame(doctorClose)
	r := newDoctorReport(exams, frame)
	if !looked {
		r.Broken = append(r.Broken, "looking at the files of kernel and driver: no answer from one of them")
	}
	r.Engines = foundEngines(*o.seen)
	r.At, r.Seconds = began.UTC().Truncate(time.Second), probes.Seconds(time.Since(began))
	r.conclude()
	if ctx.Err() != nil {
		return interruption(ctx.Err(), "nothing was printed")
	}
	if err := printDoctor(cmd.OutOrStdout(), r, o.json); err != nil {
		return failed(err, "")
	}
	if n := len(r.Broken); n > 0 {
		return &exitError{code: exitDegraded, err: errors.New(brokenThings(n))}
	}
	return nil
}

func brokenThings(n int) string {
	if n == 1 {
		return "one thing is broken"
	}
	return fmt.Sprintf("%d things are broken", n)
}

func printDoctor(out io.Writer, r *doctorReport, asJSON bool) error {
	if asJSON {
		return toJSON(out, r)
	}
	_, err := io.WriteString(out, r.text())
	return err
}
