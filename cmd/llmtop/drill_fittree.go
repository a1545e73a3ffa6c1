package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/judge"
	"llmtop/cmd/llmtop/internal/drill/score"
)

// Of a run the features are told every ten seconds. What lies within 20 s after the onset belongs to
// neither class: the fault has begun, but statistics over the last seconds do not show it yet.
const (
	featuresEvery = 10 * time.Second
	settling      = 20 * time.Second
)

// newDrillFitTreeCommand makes the decision tree that is one of the baselines.
func newDrillFitTreeCommand() *cobra.Command {
	o := drillScoreOptions{suite: "train"}
	var output string
	cmd := &cobra.Command{
		Use:    "fit-tree -o FILE.json",
		Short:  "Fit the baseline's decision tree on the train suite",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := o.plan()
			if err != nil {
				return err
			}
			return toOutput(cmd, output, false, func(w io.Writer) error { return fitTree(cmd, w, all) })
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the new `file`; the one that is built in is cmd/llmtop/internal/drill/judge/tree.json")
	cmd.Flags().StringVar(&o.suite, "suite", "train", "train, or ci, a part of it")
	cmd.Flags().StringVar(&o.engine, "engine", "twin", "twin or cpu")
	cmd.Flags().StringVar(&o.only, "only", "", "only these drills (`ids`, separated by commas)")
	return cmd
}

func fitTree(cmd *cobra.Command, w io.Writer, all []drill.Instance) error {
	said := newCounter(cmd, "runs", len(all))
	runs, err := runSuite(cmd.Context(), all, "", said, featuresEvery)
	said.end()
	if err != nil {
		return err
	}
	samples := labelled(runs)
	if err := toJSON(w, judge.Fit(samples)); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "fitted to %d moments of %d runs\n", len(samples), len(runs))
	return nil
}

// labelled are the moments of runs that count with what they are: healthy before the onset and in
// controls, the label of the run in its fault. Recordings with sources left out are among them.
func labelled(runs []score.Run) []judge.Labelled {
	var out []judge.Labelled
	for i := range runs {
		t := &runs[i].Truth
		if !t.Counts() {
			continue
		}
		for _, f := range runs[i].Judged.Features {
			class := judge.HealthyClass
			switch {
			case t.Kind == drill.Healthy || f.At.Before(t.Onset):
			case f.At.Before(t.Onset.Add(settling)):
				continue
			default:
				class = score.Label(t)
			}
			out = append(out, judge.Labelled{Values: f.Values, Class: class})
		}
	}
	return out
}
