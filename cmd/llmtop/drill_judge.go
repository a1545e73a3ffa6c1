package main

import (
	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/drill/judge"
)

// newDrillJudgeCommand is the process that judges recordings for `drill score`: their names come on
// standard input, and nothing else comes.
func newDrillJudgeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "judge",
		Short:  "Judge the recordings named on standard input, a line of JSON each",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return failed(judge.Serve(cmd.InOrStdin(), cmd.OutOrStdout()), "")
		},
	}
}
