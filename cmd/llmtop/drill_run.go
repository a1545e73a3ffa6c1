package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/inject"
)

func newDrillRunCommand() *cobra.Command {
	var (
		from   instanceFlags
		output string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "run ID|FILE.yaml -o FILE.llmrec",
		Short: "Run one drill: a recording, and what was done",
		Long: `Runs a drill (llmtop drill list has their ids, docs/drills.md says how to write one) and keeps
what llmtop would have seen in a new recording. What was done is printed, and is not in the
recording. A run whose symptom did not become as strong as the severity says, or whose fault
does not show where it must, does not count in scores; that is printed, too.`,
		Args: one("a drill: llmtop drill run power-cap -o incident.llmrec (llmtop drill list has all)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := newRecordingPath(output); err != nil {
				return err
			}
			d, err := readDrill(args[0])
			if err != nil {
				return err
			}
			inst, err := from.instance(d)
			if err != nil {
				return err
			}
			if _, err := os.Lstat(output); err == nil {
				return failed(fmt.Errorf("%s exists already", output), "name a new file: nothing is ever overwritten")
			}
			return runDrill(cmd, inst, output, asJSON)
		},
	}
	from.add(cmd)
	cmd.Flags().Uint64Var(&from.seed, "seed", 1, "the same seed, the same run; from 101 on in the deployments of the test suite")
	cmd.Flags().StringVarP(&output, "output", "o", "", "the new `file` (*.llmrec)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "what was done as one JSON object")
	return cmd
}

func runDrill(cmd *cobra.Command, inst drill.Instance, output string, asJSON bool) error {
	if inst.Engine == "cpu" {
		fmt.Fprintln(cmd.ErrOrStderr(), "running it on this machine in real time; that takes minutes …")
	}
	truth, err := runOne(cmd.Context(), inst, output)
	if err != nil {
		return interruption(err, "no file was left")
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: llmtop replay shows it, llmtop diagnose judges it\n", oneLine(output))
	if asJSON {
		return failed(toJSON(cmd.OutOrStdout(), truth), "")
	}
	return failed(printTruth(cmd.OutOrStdout(), inst.Drill, &truth), "")
}

// runOne runs an instance into a new recording; without one when it fails.
func runOne(ctx context.Context, inst drill.Instance, path string) (drill.Truth, error) {
	if inst.Engine != "cpu" {
		return drill.RunTwin(ctx, inst, path)
	}
	t, err := inject.RunCPU(ctx, inst, path)
	var missing inject.Lacking
	if errors.As(err, &missing) {
		err = failed(fmt.Errorf("this machine cannot do it: %w", err), "")
	}
	return t, err
}

// printTruth says what was done in a run.
func printTruth(w io.Writer, d *drill.Drill, t *drill.Truth) error {
	p := &facts{w: w}
	p.line("drill", "%s: %s", d.ID, d.Story)
	p.line("expected", "%s", expected(t))
	if t.World != "" {
		p.line("world", "%s", t.World)
	}
	p.line("seed", "%d", t.Seed)
	if !t.Onset.IsZero() {
		p.line("onset", "%s, %s after the start", t.Onset.UTC().Format("15:04:05Z"), t.Onset.Sub(t.From))
	}
	if t.Severity != "" {
		p.line("severity", "%s: %s grew from %.4g to %.4g, ×%.3g", t.Severity, t.Symptom, t.Before, t.During, t.Ratio)
	}
	if t.Strength != 0 {
		p.line("strength", "%.4g, found in %d runs", t.Strength, t.Tries)
	}
	for _, c := range t.Confirmed {
		p.line("confirmed", "%s from %.4g to %.4g%s", c.Signal, c.Before, c.During, map[bool]string{false: ": NOT what it must be"}[c.Holds])
	}
	if t.Counts() {
		p.line("counts", "yes")
	} else {
		p.line("counts", "no: %s", t.Discard)
	}
	return p.err
}

// facts prints a word and what there is to say of it; the first error stays.
type facts struct {
	w   io.Writer
	err error
}

func (l *facts) line(word, format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, "%-10s %s\n", word, oneLine(fmt.Sprintf(format, args...)))
	}
}

// expected says what a run is to be called.
func expected(t *drill.Truth) string {
	switch t.Kind {
	case drill.Healthy:
		return "healthy: no alarm"
	case drill.Outside:
		return "unknown: no rule describes it"
	}
	text := ""
	for i, id := range t.Expects {
		text += map[bool]string{true: " or "}[i > 0] + id
	}
	switch t.Kind {
	case drill.Note:
		text += ", as a note: nothing is wrong"
	case drill.Limit:
		text += ": what the hardware allows"
	}
	for i, id := range t.Effects {
		text += map[bool]string{true: "; after it may stand ", false: ", "}[i == 0] + id
	}
	return text
}
