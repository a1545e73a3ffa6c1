package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/score"
	"llmtop/rules"
)

// reviewGame prints what the engineer scored, what happened, what llmtop said, and its evidence.
func reviewGame(cmd *cobra.Command, g *game, answer string, took time.Duration) error {
	out := cmd.OutOrStdout()
	judged, err := judgeOne(cmd.Context(), g.path)
	if err != nil {
		return interruption(err, "")
	}
	last, err := lastDiagnosis(cmd, g.path)
	if err != nil {
		return interruption(err, "")
	}
	fmt.Fprintf(out, "\n%s\n\n", gameScore(&g.truth, answer, took))
	if err := printTruth(out, g.drill, &g.truth); err != nil {
		return failed(err, "")
	}
	fmt.Fprintf(out, "\nllmtop said, counted from the onset:\n")
	printSaid(out, &g.truth, judged.Verdicts[drill.Product])
	_, err = fmt.Fprintf(out, "\nand at the end:\n%s", rules.Report(*last))
	return failed(err, "")
}

// gameScore is what an answer is worth.
func gameScore(t *drill.Truth, answer string, took time.Duration) string {
	after := fmt.Sprintf("%.0f s after the onset", took.Seconds())
	if took < 0 {
		after = fmt.Sprintf("%.0f s before the onset: nothing was to be seen yet", -took.Seconds())
	}
	label := strings.Join(t.Expects, " or ")
	if t.Kind == drill.Outside {
		label = score.Unknown
	}
	switch {
	case answer == "":
		return fmt.Sprintf("No answer. It was %s.", label)
	case slices.Contains(t.Expects, answer) || answer == score.Label(t):
		return fmt.Sprintf("RIGHT: %s, %s.", answer, after)
	case slices.Contains(t.Effects, answer):
		return fmt.Sprintf("ALMOST: %s is an effect of it. The root was %s (%s).", answer, label, after)
	}
	return fmt.Sprintf("WRONG: it was %s, not %s (%s).", label, answer, after)
}

// mostSaid bounds the verdicts that are printed.
const mostSaid = 14

// printSaid prints the product's verdicts from the onset on, and when it had the right cause for good.
func printSaid(out io.Writer, t *drill.Truth, verdicts []drill.Verdict) {
	before, shown := "", 0
	for i := range verdicts {
		v := &verdicts[i]
		line := strings.Join(append([]string{strings.ToUpper(v.State)}, v.Causes...), "  ")
		if line == before || i+1 < len(verdicts) && !verdicts[i+1].At.After(t.Onset) {
			continue // what the onset found is the first that matters
		}
		before = line
		if shown++; shown > mostSaid {
			fmt.Fprintln(out, "   …")
			break
		}
		fmt.Fprintf(out, "%7s  %s\n", afterOnset(v.At.Sub(t.Onset)), line)
	}
	if d, ok := score.Delay(t, verdicts); ok {
		fmt.Fprintf(out, "it had the right cause first, and for good, after %.0f s\n", d.Seconds())
	} else {
		fmt.Fprintln(out, "it never had the right cause first for good")
	}
}

// judgeOne has a recording judged by a process that sees nothing else.
func judgeOne(ctx context.Context, path string) (drill.Judged, error) {
	j, err := startJudges(ctx, 1, 0)
	if err != nil {
		return drill.Judged{}, err
	}
	defer j.stop()
	return j.judge(ctx, path)
}

// lastDiagnosis is what llmtop says at the end of a recording.
func lastDiagnosis(cmd *cobra.Command, path string) (*rules.Diagnosis, error) {
	reader, err := openRecording(path)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	line, err := newRecorded(reader)
	if err != nil {
		return nil, err
	}
	ticks, err := line.goTo(cmd.Context(), line.last(), newProgress(cmd, "reading the recording"))
	if err != nil {
		return nil, err
	}
	return &ticks[len(ticks)-1].Diagnosis, nil
}
