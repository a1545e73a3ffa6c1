package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
	"llmtop/rules"
)

func newRedactCommand() *cobra.Command {
	var (
		output string
		hash   bool
		o      record.RedactOptions
	)
	cmd := &cobra.Command{
		Use:   "redact FILE|DIR -o OUT",
		Short: "Write a recording without names, to share it",
		Long: `Writes a new recording in which no text is left that says whose it is. Numbers and times
stay: it shows and is diagnosed as before.

Hashed (8 hex digits; request ids 16): host names, hosts and paths of endpoints, models,
values of labels, names of processes, GPU UUIDs, names of metrics, labels, causes and the
like that are not generally known. The key of the hash is made for this call and not kept:
equal names stay equal in the new file, and nobody can look them up.

Dropped: texts of events, errors, findings and marks, command lines, names of logs, where
settings were read, and the CPU profiles, which hold file paths, command lines and names
of functions.

Kept: metric names of engines and of the libraries they use, numbers and finish reasons
in labels, stages, causes of the built-in rule book, GPU product names, versions, loopback
addresses, ports, process ids. What was done is printed.`,
		Args: one("a recording: llmtop redact FILE|DIR -o OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := newRecordingPath(output); err != nil {
				return err
			}
			if hash && o.Drop {
				return usage(errors.New("--hash and --drop exclude each other"), "")
			}
			return runRedact(cmd, args[0], output, o)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the new `file` (*.llmrec)")
	cmd.Flags().BoolVar(&hash, "hash", false, "hash names (the default)")
	cmd.Flags().BoolVar(&o.Drop, "drop", false, "drop names instead; engines, GPUs and unknown metrics get numbers")
	cmd.Flags().BoolVar(&o.KeepModel, "keep-model", false, "keep the names of models")
	cmd.Flags().BoolVar(&o.KeepMarks, "keep-marks", false, "keep the texts of marks as they are")
	cmd.Flags().BoolVar(&o.KeepProfiles, "keep-profiles", false, "keep CPU profiles as they are, with all paths and names in them")
	return cmd
}

func runRedact(cmd *cobra.Command, path, output string, o record.RedactOptions) error {
	book, err := rules.DefaultBook()
	if err != nil {
		return failed(fmt.Errorf("loading the rule book: %w", err), "")
	}
	known := map[string]bool{}
	for _, rule := range book.Rules {
		known[rule.ID] = true
	}
	o.Cause = func(id string) bool { return known[id] }
	r, err := openRecording(path)
	if err != nil {
		return err
	}
	defer r.Close()
	copied, tallies, err := record.Redact(cmd.Context(), r, output, o)
	if err != nil {
		return interruption(err, "no file was left")
	}
	out := cmd.OutOrStdout()
	_, err = fmt.Fprintf(out, "%s: %s\n", oneLine(output), contents(copied))
	for _, t := range tallies {
		if err == nil {
			_, err = fmt.Fprintln(out, t)
		}
	}
	if n := r.Info().Damaged; n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "llmtop: %s is damaged; what is lost is not in the copy\n", oneLine(path))
	}
	return failed(err, "")
}
