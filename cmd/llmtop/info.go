package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
)

func newInfoCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info FILE|DIR",
		Short: "Say what is in a recording",
		Args:  one("a recording: llmtop info FILE|DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := openRecording(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			info := r.Info()
			if info.Bytes <= readWhole {
				if info, err = r.Verify(cmd.Context()); err != nil {
					return interruption(fmt.Errorf("reading %s: %w", oneLine(args[0]), err), "")
				}
			}
			if asJSON {
				return failed(toJSON(cmd.OutOrStdout(), info), "")
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), describe(info))
			return failed(err, "")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// readWhole is up to which size info reads every sample, about three seconds' worth;
// of a larger file it says what the index says, which does not know of damage.
const readWhole = 64 << 20

func openRecording(path string) (*record.Reader, error) {
	r, err := record.Open(path)
	return r, failed(err, "")
}

// describe is what is in a recording, for people.
func describe(i record.Info) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s  %s\n", name, oneLine(fmt.Sprintf(format, args...)))
	}
	line("file", "%s, %s, %.0f bytes a sample", i.Path, bytesText(i.Bytes), i.BytesPerSample)
	if i.Files != 1 {
		line("files", "%d", i.Files)
	}
	line("samples", "%d%s", i.Samples, every(i.Interval))
	if i.Samples > 0 {
		line("from", "%s", i.Start.Format(time.RFC3339))
		line("to", "%s (%s)", i.End.Format(time.RFC3339), i.Duration.Round(time.Second))
	}
	for _, e := range i.Engines {
		line("engine", "%s", e)
	}
	switch {
	case i.Manifest.Version == "": // it was lost
	case i.Manifest.Simulated:
		line("made by", "llmtop %s, simulated: nothing in it was read of a host", i.Manifest.Version)
	default:
		line("made by", "llmtop %s on %s (%s, %d CPUs)", i.Manifest.Version, i.Manifest.Host, i.Manifest.OS, i.Manifest.CPUs)
	}
	describeFacts(line, &i.Manifest)
	line("findings", "%d", i.Findings)
	for n, m := range i.Marks {
		if n == listed {
			line("mark", "and %d more: llmtop mark list", len(i.Marks)-n)
			break
		}
		line("mark", "%s %s", m.At.Format(time.TimeOnly), m.Text)
	}
	for _, h := range i.Events {
		line("event", "%s: %d, %s", h.Kind, h.Count, firstOf(h))
	}
	for n, g := range i.Gaps {
		if n == listed {
			line("gap", "and %d more", len(i.Gaps)-n)
			break
		}
		line("gap", "%s to %s, %d samples: %s", g.From.Format(time.TimeOnly), g.To.Format(time.TimeOnly), g.Dropped, g.Reason)
	}
	if i.Bytes > readWhole {
		line("note", "too large to read whole: damage and events were not looked for")
	}
	if i.Damaged > 0 {
		line("damaged", "%d records or samples are lost", i.Damaged)
	}
	if !i.CleanClose {
		line("state", "not closed: still being written, or its writer was killed")
	}
	return b.String()
}

// listed is how many marks and gaps info shows.
const listed = 20

// firstOf shows the first events of a kind.
func firstOf(h record.Happened) string {
	var first []string
	for _, e := range h.First {
		first = append(first, e.At.Format(time.TimeOnly)+" "+e.Text)
	}
	if h.Count > len(h.First) {
		first = append(first, "…")
	}
	return strings.Join(first, "; ")
}

func every(interval time.Duration) string {
	if interval <= 0 {
		return "" // nobody says
	}
	return ", one every " + interval.String()
}

func bytesText(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
