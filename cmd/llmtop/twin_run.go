package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"llmtop/engine/twin"
	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

type twinRunOptions struct {
	output   string
	seed     uint64
	duration time.Duration
	json     bool
	quiet    bool
}

func newTwinRunCommand() *cobra.Command {
	var o twinRunOptions
	cmd := &cobra.Command{
		Use:   "run SCENARIO [-o FILE]",
		Short: "Run a scenario in virtual time: verdicts, and a recording of it",
		Long: `Runs a scenario (a file, or the name of one that comes along) in virtual time: minutes in a
second, a day of many GPUs in minutes. Prints each change of the verdict, then what became of
the requests. With -o everything that llmtop would have seen is kept in a new recording, marked
simulated; the same scenario and seed make the same bytes. Nothing of the scenario's timeline is
in the recording. The exit status is 0 whatever the verdicts: llmtop diagnose has theirs.`,
		Args: one("a scenario: llmtop twin run SCENARIO -o FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.output != "" {
				if err := newRecordingPath(o.output); err != nil {
					return err
				}
			}
			sc, err := readScenario(args[0])
			if err != nil {
				return err
			}
			if sc, err = o.changed(cmd, sc); err != nil {
				return err
			}
			return runScenario(cmd, sc, o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "the new `file` (*.llmrec)")
	f.Uint64Var(&o.seed, "seed", 0, "in place of the scenario's")
	f.DurationVar(&o.duration, "duration", 0, "in place of the scenario's")
	f.BoolVar(&o.json, "json", false, "each verdict as one JSON object a line")
	f.BoolVar(&o.quiet, "quiet", false, "no verdicts")
	return cmd
}

// changed is the scenario with what the flags say.
func (o *twinRunOptions) changed(cmd *cobra.Command, sc twin.Scenario) (twin.Scenario, error) {
	if cmd.Flags().Changed("seed") {
		sc.Seed = o.seed
	}
	if !cmd.Flags().Changed("duration") {
		return sc, nil
	}
	sc, err := sc.Lasting(o.duration)
	if err != nil {
		return sc, usage(fmt.Errorf("--duration: %w", err), "")
	}
	return sc, nil
}

func runScenario(cmd *cobra.Command, sc twin.Scenario, o twinRunOptions) (err error) {
	run, err := twin.New(sc)
	if err != nil {
		return usage(err, "")
	}
	kept, err := keepSimulated(o.output, run)
	if err != nil {
		return failed(err, "")
	}
	defer func() {
		if err != nil {
			kept.discard()
		}
	}()
	left := ""
	if o.output != "" {
		left = "no file was left"
	}
	begun := time.Now()
	if err := advance(cmd, run, kept, o); err != nil {
		return interruption(err, left)
	}
	copied, err := kept.close(cmd.Context())
	if err != nil {
		return interruption(err, left)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s simulated in %s\n%s", sc.Duration, time.Since(begun).Round(time.Millisecond), run.Summary())
	if o.output != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", oneLine(o.output), contents(copied))
	}
	return nil
}

// advance runs to the end: the simulation on a goroutine of its own, what it means and the
// recording here.
func advance(cmd *cobra.Command, run *twin.Run, kept *simulatedFile, o twinRunOptions) error {
	source := runAhead(cmd.Context(), run)
	defer source.stop()
	w := runWatch{source: source, kept: kept, quiet: o.quiet}
	if !o.quiet || kept.copy != nil {
		s, err := newSession(source)
		if err != nil {
			return err
		}
		w.session, w.out = s, printer{out: cmd.OutOrStdout(), warn: cmd.ErrOrStderr(), json: o.json}
	}
	shown := newProgress(cmd, "simulating")
	defer shown.end()
	for all := run.Scenario.Steps(); ; {
		seq, err := w.next(cmd.Context())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		shown.report(int(seq), all)
	}
}

// runWatch is what is made of the samples of a run.
type runWatch struct {
	source  probes.Source
	session *session // nil: nobody would see what they mean, so it is not worked out
	kept    *simulatedFile
	out     printer
	quiet   bool
}

// next takes a sample and says which one it was.
func (w *runWatch) next(ctx context.Context) (seq uint64, err error) {
	if w.session == nil {
		sample, err := w.source.Next(ctx)
		if err != nil {
			return 0, err
		}
		return sample.Seq, nil
	}
	tick, err := w.session.next(ctx)
	if err == nil {
		err = w.kept.add(ctx, w.session, tick)
	}
	if err == nil && !w.quiet {
		err = w.out.watch(&tick.Diagnosis)
	}
	if err != nil {
		return 0, err
	}
	return tick.Point.Seq, nil
}

// simulatedFile is the recording of a simulated run; without one it keeps nothing.
type simulatedFile struct{ copy *record.Copy }

func keepSimulated(path string, run *twin.Run) (*simulatedFile, error) {
	if path == "" {
		return &simulatedFile{}, nil
	}
	sc := &run.Scenario
	c, err := record.NewCopy(path, record.Manifest{
		Version: version(), Created: sc.Start, Interval: sc.Interval, Simulated: true, Host: "twin", Facts: run.Facts(),
	})
	return &simulatedFile{copy: c}, err
}

func (f *simulatedFile) add(ctx context.Context, s *session, tick *rules.Tick) error {
	if f.copy == nil {
		return nil
	}
	if err := f.copy.Add(ctx, record.Entry{Sample: tick.Point.Sample}); err != nil {
		return err
	}
	for _, finding := range s.findings(tick) {
		if err := f.copy.Add(ctx, record.Entry{Finding: finding}); err != nil {
			return err
		}
	}
	return nil
}

func (f *simulatedFile) close(ctx context.Context) (record.Copied, error) {
	if f.copy == nil {
		return record.Copied{}, nil
	}
	return f.copy.Close(ctx)
}

func (f *simulatedFile) discard() {
	if f.copy != nil {
		f.copy.Discard()
	}
}

var _ probes.Source = (*twin.Run)(nil)
