package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
)

func newVerifyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify FILE|DIR",
		Short: "Read all of a recording and say what is lost",
		Long: `Reads and decodes every record of a recording and says how many samples there are, how many
are lost, and where. The exit status is 0 when nothing is lost, 1 when something is, or when
the file cannot be read at all. A recording that is still being written, or whose writer was
killed between two samples, has lost nothing. Of a store all files are read.`,
		Args: one("a recording: llmtop verify FILE|DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return runVerify(cmd, args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

func runVerify(cmd *cobra.Command, path string, asJSON bool) error {
	check, err := record.CheckFile(cmd.Context(), path)
	if err != nil {
		return interruption(err, "")
	}
	if asJSON {
		err = toJSON(cmd.OutOrStdout(), struct {
			record.Check
			Clean bool `json:"clean"`
		}{check, check.Clean()})
	} else {
		err = printCheck(cmd.OutOrStdout(), check)
	}
	if err == nil && !check.Clean() {
		return &exitError{code: exitDegraded}
	}
	return failed(err, "")
}

// shownPlaces bounds how many places of damage are printed; --json has all.
const shownPlaces = 50

func printCheck(out io.Writer, c record.Check) error {
	state := "nothing is lost"
	if !c.Clean() {
		state = fmt.Sprintf("damaged at %s, %s lost", counted(len(c.Places), "place"), counted(c.Lost, "sample"))
	}
	if !c.CleanClose {
		state += "; not closed: still being written, or its writer was killed"
	}
	if c.Unknown > 0 {
		state += fmt.Sprintf("; %d records of a newer llmtop were passed over", c.Unknown)
	}
	_, err := fmt.Fprintf(out, "%s: %d samples, %s: %s\n", oneLine(c.Path), c.Samples, bytesText(c.Bytes), state)
	for i, d := range c.Places {
		if i == shownPlaces {
			_, err = fmt.Fprintf(out, "  and %d places more\n", len(c.Places)-i)
			break
		}
		where := ""
		if d.File != "" {
			where = oneLine(d.File) + " "
		}
		fmt.Fprintf(out, "  %soffset %d: %s, %s\n", where, d.Offset, lostText(d), between(d.After, d.Before))
	}
	return err
}

func lostText(d record.Damage) string {
	switch {
	case d.Bytes == 0:
		return fmt.Sprintf("%d samples need what is lost elsewhere", d.Samples)
	case d.Samples == 0:
		return fmt.Sprintf("%d bytes, no sample that is known of", d.Bytes)
	}
	return fmt.Sprintf("%d bytes, %d samples", d.Bytes, d.Samples)
}

// between says between which samples something lies.
func between(after, before time.Time) string {
	const layout = "2006-01-02T15:04:05.000Z07:00"
	switch {
	case after.IsZero() && before.IsZero():
		return "no sample can be read"
	case after.IsZero():
		return "before the first sample at " + before.Format(layout)
	case before.IsZero():
		return "after the last sample at " + after.Format(layout)
	}
	return "between " + after.Format(layout) + " and " + before.Format(layout)
}
