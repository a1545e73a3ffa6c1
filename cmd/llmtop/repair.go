package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
)

func newRepairCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "repair FILE|DIR -o OUT",
		Short: "Write what can be read of a damaged recording",
		Long: `Writes everything that can be read of a recording to a new, clean one, with a gap where
samples are lost; of a store one file. What is damaged is only read, never changed.`,
		Args: one("a recording: llmtop repair FILE|DIR -o OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := newRecordingPath(output); err != nil {
				return err
			}
			check, copied, err := record.Repair(cmd.Context(), args[0], output)
			if err != nil {
				return interruption(err, "no file was left")
			}
			out := cmd.OutOrStdout()
			_, err = fmt.Fprintf(out, "%s: saved %s; lost %s at %s\n", oneLine(output), contents(copied), counted(check.Lost, "sample"), counted(len(check.Places), "place"))
			if check.Unknown > 0 && err == nil {
				_, err = fmt.Fprintf(out, "not saved: %s of a newer llmtop\n", counted(check.Unknown, "record"))
			}
			return failed(err, "")
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the new `file` (*.llmrec)")
	return cmd
}
