package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
)

func newExtractCommand() *cobra.Command {
	var (
		from, to, output string
		lead             time.Duration
	)
	cmd := &cobra.Command{
		Use:   "extract FILE|DIR --from TIME --to TIME -o OUT",
		Short: "Write a part of a recording as a new one",
		Long: `Writes the samples of a stretch of time, with their findings, marks, gaps and CPU profiles, to
a new recording; its manifest says of what it is a part.

A diagnosis judges by what came before: what is normal is learnt from the healthy minutes
before an incident. Therefore two more minutes before --from are kept; --lead 10m keeps as
much as a diagnosis looks back, --lead 0 keeps none.

--from and --to take ` + momentForms + `.`,
		Args: one("a recording: llmtop extract FILE|DIR --from 5m --to 8m -o OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := newRecordingPath(output); err != nil {
				return err
			}
			if err := checkDuration("lead", lead); err != nil {
				return err
			}
			if from == "" && to == "" {
				return usage(errors.New("which part? give --from, --to or both"), "")
			}
			return runExtract(cmd, args[0], output, from, to, lead)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "first moment (`time`; default: the start)")
	cmd.Flags().StringVar(&to, "to", "", "last moment (`time`; default: the end)")
	cmd.Flags().DurationVar(&lead, "lead", 2*time.Minute, "how much before --from is kept for the diagnosis")
	cmd.Flags().StringVarP(&output, "output", "o", "", "the new `file` (*.llmrec)")
	return cmd
}

func runExtract(cmd *cobra.Command, path, output, fromText, toText string, lead time.Duration) error {
	r, err := openRecording(path)
	if err != nil {
		return err
	}
	defer r.Close()
	from, to, err := stretch(r, fromText, toText)
	if err != nil {
		return err
	}
	first, end := record.Between(r, from.Add(-lead), to)
	copied, err := record.Extract(cmd.Context(), r, first, end, output)
	if err != nil {
		return interruption(err, "no file was left")
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", oneLine(output), contents(copied))
	return nil
}

// contents says what is in a copy.
func contents(c record.Copied) string {
	return fmt.Sprintf("%s, %s, %s, %s, %s, %s", counted(c.Samples, "sample"), counted(c.Findings, "finding"), counted(c.Marks, "mark"),
		counted(c.Gaps, "gap"), counted(c.Profiles, "CPU profile"), bytesText(c.Bytes))
}

// counted is a number of things: 1 gap, 2 gaps.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
