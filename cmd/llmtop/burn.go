package main

import (
	"os"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/child"
)

// newBurnCommand is the noisy neighbour of the demo: one busy loop that ends with its parent.
func newBurnCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:    "burn",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ended := make(chan struct{})
			child.Parent(os.Stdin, func(string) {}, func() { close(ended) })
			for n := uint64(1); ; n = n*6364136223846793005 + 1 {
				if n&(1<<22-1) == 1 {
					select {
					case <-ended:
						return nil
					case <-cmd.Context().Done():
						return nil
					default:
					}
				}
			}
		},
	}
	cmd.Flags().Bool("with-parent", true, "end with the parent process")
	return cmd
}
