package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/score"
)

type drillScoreOptions struct {
	suite, engine, only   string
	keep, runs, failUnder string
	asJSON                bool
}

func newDrillScoreCommand() *cobra.Command {
	var o drillScoreOptions
	cmd := &cobra.Command{
		Use:   "score --suite train|test|ci",
		Short: "Run a suite of drills and score what llmtop and its baselines make of them",
		Long: `Runs every drill of a suite, each severity with several seeds, has each recording judged by a
process that sees nothing else, and prints the score (docs/drills.md says what each number is).
train is what rules are made by; test has other seeds, models, hardware, engines and load and is
run, never tuned on; ci is a short train. On the twin ci takes minutes, train and test up to 40
on two cores. The exit status is 0 whatever the score, but see --fail-under.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return scoreDrills(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.suite, "suite", "", "train, test or ci")
	f.StringVar(&o.engine, "engine", "twin", "twin or cpu: simulated, or llmtop's own engine on this machine in real time")
	f.StringVar(&o.only, "only", "", "only these drills (`ids`, separated by commas)")
	f.BoolVar(&o.asJSON, "json", false, "one JSON object")
	f.StringVar(&o.keep, "keep", "", "keep the recordings in this new `directory`")
	f.StringVar(&o.runs, "runs", "", "write what is known of each run and what was made of it to this new `file`, a JSON object a line")
	f.StringVar(&o.failUnder, "fail-under", "", "exit status 1 when a metric is worse: `metric=number`, several separated by commas")
	return cmd
}

func scoreDrills(cmd *cobra.Command, o drillScoreOptions) error {
	if o.suite == "" {
		return usage(errors.New("which suite? give --suite train, test or ci"), "")
	}
	var least []score.Least
	if o.failUnder != "" {
		var err error
		if least, err = score.ParseLeast(o.failUnder); err != nil {
			return usage(fmt.Errorf("--fail-under: %w", err), "")
		}
	}
	all, err := o.plan()
	if err != nil {
		return err
	}
	pairs, err := scoredPairs()
	if err != nil {
		return failed(err, "")
	}
	if err := o.places(); err != nil {
		return err
	}
	said := newCounter(cmd, "runs", len(all))
	runs, err := runSuite(cmd.Context(), all, o.keep, said, 0)
	said.end()
	if err != nil {
		return interruption(err, "nothing is scored")
	}
	if o.runs != "" {
		if err := toOutput(cmd, o.runs, false, func(w io.Writer) error { return writeRuns(w, runs) }); err != nil {
			return err
		}
	}
	return o.report(cmd, score.Of(runs, pairs), least)
}

// report prints the table and holds it against what must be reached.
func (o *drillScoreOptions) report(cmd *cobra.Command, t *score.Table, least []score.Least) error {
	t.Suite, t.Engine, t.Version = o.suite, o.engine, version()
	var err error
	if o.asJSON {
		err = toJSON(cmd.OutOrStdout(), t)
	} else {
		err = t.Text(cmd.OutOrStdout())
	}
	if err != nil {
		return failed(err, "")
	}
	if missed := t.Missed(least); len(missed) > 0 {
		return failed(errors.New(strings.Join(missed, "; ")), "")
	}
	return nil
}

// plan are the runs that are asked for.
func (o *drillScoreOptions) plan() ([]drill.Instance, error) {
	all, err := drill.Plan(o.suite, o.engine)
	if err != nil {
		return nil, asUsage(err)
	}
	if o.only == "" {
		return all, nil
	}
	ids := strings.Split(o.only, ",")
	for _, id := range ids {
		if _, err := drill.Lookup(id); err != nil {
			return nil, usage(fmt.Errorf("--only: %w", err), "")
		}
	}
	all = slices.DeleteFunc(all, func(i drill.Instance) bool { return !slices.Contains(ids, i.Drill.ID) })
	if len(all) == 0 {
		return nil, usage(fmt.Errorf("--only %s: the suite %s has none of them on engine %s", oneLine(o.only), o.suite, o.engine), "")
	}
	return all, nil
}

// places makes sure before the long work that its results have a place.
func (o *drillScoreOptions) places() error {
	if o.runs != "" && o.runs != "-" {
		if _, err := os.Lstat(o.runs); err == nil {
			return failed(fmt.Errorf("%s exists already", oneLine(o.runs)), "name a new file: nothing is ever overwritten")
		}
	}
	if o.keep == "" {
		return nil
	}
	if err := os.Mkdir(o.keep, 0o700); err != nil {
		return failed(fmt.Errorf("--keep: %w", err), "name a new directory")
	}
	return nil
}

// scoredPairs are the look-alikes of which there are drills.
func scoredPairs() ([]score.Pair, error) {
	all, err := drill.Pairs()
	var out []score.Pair
	for _, p := range all {
		if p.Without == "" {
			out = append(out, score.Pair{A: p.A, B: p.B})
		}
	}
	return out, err
}

func writeRuns(w io.Writer, runs []score.Run) error {
	b := bufio.NewWriter(w)
	for i := range runs {
		if err := toJSON(b, &runs[i]); err != nil {
			return err
		}
	}
	return b.Flush()
}
