package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/child"
	"llmtop/engine/load"
)

func newLoadCommand() *cobra.Command {
	var (
		c                  load.Config
		requests           string
		asJSON, withParent bool
	)
	cmd := &cobra.Command{
		Use:   "load URL",
		Short: "Put an open-loop load on an OpenAI-compatible engine and measure it",
		Long: `Sends streaming chat requests at random times with the given mean rate, whether or not
the engine keeps up (open loop), and reports TTFT, TPOT and E2E from the moment each
request was due, tokens per second, and whether this client itself was the bottleneck.
Ctrl-C ends it early, with a report.`,
		Args: one("an engine: llmtop load URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			if withParent {
				child.Parent(os.Stdin, func(string) {}, cancel)
			}
			url, err := parseTarget(args[0])
			if err != nil {
				return err
			}
			c.URL, c.APIKey = url, apiKey()
			each, err := newRequestFile(requests)
			if err != nil {
				return err
			}
			c.Ended = each.add
			report, err := load.Run(ctx, c)
			if err := cmp.Or(err, each.close()); err != nil {
				return failed(err, "")
			}
			if err := printReport(cmd.OutOrStdout(), report, asJSON); err != nil {
				return failed(err, "")
			}
			return failed(useless(report), "")
		},
	}
	f := cmd.Flags()
	f.Float64Var(&c.Rate, "rate", 1, "mean requests per second")
	f.DurationVar(&c.Duration, "duration", 30*time.Second, "how long to send (0: until interrupted)")
	f.DurationVar(&c.Timeout, "timeout", 2*time.Minute, "longest a request may take")
	f.IntVar(&c.PromptTokens, "prompt-tokens", 0, "prompt length, about (0: a short question)")
	f.Float64Var(&c.PromptSpread, "prompt-spread", 0.3, "prompt lengths vary by this part of --prompt-tokens")
	f.IntVar(&c.SharedPrefixTokens, "shared-prefix-tokens", 0, "prompts begin with the same text of about this length")
	f.IntVar(&c.SharedPrefixes, "shared-prefixes", 1, "how many such texts there are, each prompt begins with one of them")
	f.StringSliceVar(&c.Priorities, "priority", nil, "priorities to draw from: integers or classes, comma-separated")
	f.IntVar(&c.OutputTokens, "output-tokens", 0, "answer length at most (0: until it ends by itself)")
	f.StringVar(&c.Model, "model", "", "model name (default: the first the engine lists)")
	f.Int64Var(&c.Seed, "seed", 1, "the same seed gives the same requests at the same times")
	f.IntVar(&c.MaxInFlight, "max-in-flight", 0, "most requests out at once, for safety (0: 1024)")
	f.StringVar(&requests, "requests", "", "write each request's times into this new `file`, one JSON object a line")
	f.IntVar(&c.Connections, "connections", 0, "most connections at once; requests beyond wait within this client (0: as many as are needed)")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	f.BoolVar(&withParent, "with-parent", false, "end with the parent process")
	f.MarkHidden("with-parent")
	return cmd
}

func printReport(w io.Writer, r load.Report, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	_, err := fmt.Fprintln(w, r.String())
	return err
}

// useless is the error of a run in which no request completed, unless it was ended
// before any could.
func useless(r load.Report) error {
	if r.Completed > 0 || r.Sent == r.Aborted {
		return nil
	}
	return fmt.Errorf("no request completed: of %d, %d were rejected, %d timed out and %d failed", r.Sent, r.Rejected, r.TimedOut, r.Failed)
}
