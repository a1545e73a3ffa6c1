package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
)

func newRepairCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "repair FILE -o OUT",
		Short: "Write what can be read of a damaged recording",
		Long: `Writes everything that can be read of a recording to a new, clean one, with a gap where
samples are lost. The damaged file is only read, never changed.`,
		Args: one("a recording: llmtop repair FILE -o OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := newRecordingPath(output); err != nil {
				return err
			}
			check, copied, err := record.Repair(cmd.Context(), args[0], output)
			if err != nil {
				return interruption(err, "no file was left")
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%s: saved %s; lost %s at %s\n", oneLine(output), contents(copied), counted(check.Lost, "sample"), counted(len(check.Places), "place"))
			if check.Unknown > 0 {
				fmt.Fprintf(out, "not saved: %d records of a newer llmtop\n", check.Unknown)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the new `file` (*.llmrec)")
	return cmd
}
