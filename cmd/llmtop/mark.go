package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
)

func newMarkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mark",
		Short: "Set and list marks in a recording: what was done when",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage(errors.New("add or list?"), `llmtop mark add FILE "what happened", llmtop mark list FILE`)
		},
	}
	cmd.AddCommand(newMarkAddCommand(), newMarkListCommand())
	return cmd
}

func newMarkAddCommand() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "add FILE|DIR TEXT",
		Short: "Set a mark, also while the recording is being written",
		Long: `Puts a mark at the end of a recording that nobody is writing; nothing in it is changed.
For one that is being written the mark waits beside it (FILE.marks, DIR/marks), and the
llmtop that writes takes it in within a second or two. Secrets in the text are removed.

--at takes what replay --at takes; without it the mark is of now.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage(fmt.Errorf("%d arguments given, two are needed", len(args)), `llmtop mark add FILE "what happened"`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runMarkAdd(cmd, args[0], args[1], at) },
	}
	cmd.Flags().StringVar(&at, "at", "", "when it was (`time`; now by default)")
	return cmd
}

func runMarkAdd(cmd *cobra.Command, path, text, at string) error {
	when := time.Now().UTC()
	if at != "" {
		var err error
		if when, err = momentOfFile(path, at); err != nil {
			return err
		}
	}
	where, err := record.AddMark(path, when, text)
	switch {
	case errors.Is(err, record.ErrMarkEmpty), errors.Is(err, record.ErrMarkLong):
		return usage(err, "")
	case errors.Is(err, fs.ErrNotExist):
		return failed(err, "record first: llmtop record -o "+oneLine(path))
	case err != nil:
		return failed(err, "")
	case where == "":
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: marked at %s\n", oneLine(path), when.Format(time.RFC3339))
	default:
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: the mark of %s waits in %s for the writer to take it in\n", oneLine(path), when.Format(time.RFC3339), oneLine(where))
	}
	return failed(err, "")
}

// momentOfFile reads a time of a recording.
func momentOfFile(path, at string) (time.Time, error) {
	r, err := openRecording(path)
	if err != nil {
		return time.Time{}, err
	}
	defer r.Close()
	i := r.Info()
	t, err := parseMoment("at", at, i.Start, i.End)
	if err != nil {
		return time.Time{}, err
	}
	return t.UTC(), nil
}

func newMarkListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list FILE|DIR",
		Short: "List the marks of a recording in the order of their times",
		Args:  one("a recording: llmtop mark list FILE|DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := openRecording(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			marks := r.Info().Marks
			slices.SortStableFunc(marks, func(a, b record.Mark) int { return a.At.Compare(b.At) })
			for _, m := range marks {
				if asJSON {
					err = toJSON(cmd.OutOrStdout(), m)
				} else {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s  %s\n", m.At.Format(time.RFC3339), oneLine(m.Text))
				}
				if err != nil {
					return failed(err, "")
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}
