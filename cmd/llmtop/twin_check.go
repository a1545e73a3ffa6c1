package main

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"llmtop/engine/twin"
)

func newTwinCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE|NAME",
		Short: "Say what a scenario means, or what is wrong with it",
		Long: `Reads a scenario and prints what was understood: the deployment, its KV cache, the load,
what the hardware can be expected to do with it, and the changes in order of time. What is
wrong is said with file and line; the exit status is 2 then.

What can be expected is arithmetic (half of the hardware's FLOP/s, 70 % of its bandwidth,
shared prefixes found in the cache), not a run.`,
		Args: one("a scenario: llmtop twin check FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readScenario(args[0])
			if err != nil {
				return err
			}
			return failed(printScenario(cmd.OutOrStdout(), &s), "")
		},
	}
}

// shownEvents bounds how many changes are printed.
const shownEvents = 40

func printScenario(w io.Writer, s *twin.Scenario) error {
	e, err := s.Estimate()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "%-10s  %s\n", name, oneLine(fmt.Sprintf(format, args...)))
	}
	line("scenario", "%s, seed %d, spread %g", s.Name, s.Seed, s.Spread)
	line("engine", "%s", deployed(s))
	if s.Linear == nil {
		line("memory", "%.1f GB of weights, %.1f GB of KV cache on each GPU", e.Memory.Weights/1e9, e.Memory.KV/1e9)
	}
	line("KV cache", "%d tokens a replica, %.0f requests of this load", e.KVTokens, float64(e.KVTokens)/(e.Means.Prompt+e.Means.Output/2))
	line("limits", "%d sequences, %d tokens in a step, %d guesses", s.Limits.MaxNumSeqs, s.Limits.MaxBatchedTokens, s.Limits.Drafts)
	if t := s.Workload.Trace; t != nil {
		line("trace", "%s, %s", oneLine(t.Name), counted(len(t.Rows), "request"))
	}
	line("load", "%.4g requests/s at the start, prompts of %.0f tokens (%.0f of them shared), answers of %.0f", e.Means.Rate, e.Means.Prompt, e.Means.Shared, e.Means.Output)
	line("expected", "up to about %.3g requests/s (now %.0f %%), prefill %s, TPOT %s with %.0f running", e.Capacity, 100*e.Means.Rate/e.Capacity,
		shortTime(e.Prefill), shortTime(e.TPOT), e.Running)
	line("run", "%s from %s, %s", s.Duration, s.Start.UTC().Format(time.RFC3339), counted(s.Steps(), "sample"))
	for i, c := range s.Timeline {
		if i == shownEvents {
			line("", "and %s more", counted(len(s.Timeline)-i, "change"))
			break
		}
		line("at "+c.At.Round(time.Millisecond).String(), "%s", c.Change)
	}
	return out.Flush()
}

// deployed says what runs where.
func deployed(s *twin.Scenario) string {
	how := fmt.Sprintf("%s of tp %d, pp %d", counted(s.Replicas, "replica"), s.TP, s.PP)
	if s.Prefills > 0 {
		how += fmt.Sprintf(", %d of them for prompts", s.Prefills)
	}
	if s.Linear != nil {
		return fmt.Sprintf("%s, an engine that was measured, %s", s.Personality, counted(s.Replicas, "replica"))
	}
	return fmt.Sprintf("%s with %s (%s, KV %s) on %d × %s, %s", s.Personality, s.Model.Name, s.Weights, s.KV, s.GPUs, s.GPU.Name, how)
}
