package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"llmtop/panes"
	"llmtop/probes/record"
)

func newReplayCommand() *cobra.Command {
	var (
		once, follow bool
		at           string
	)
	cmd := &cobra.Command{
		Use:   "replay FILE|DIR",
		Short: "Look at a recording, as it was live",
		Long: `Shows a recording on the live screen. space plays and pauses, the arrow keys step,
[ ] and { } jump, g goes to a time that you type, n to the next finding; a and b choose a
stretch of time and c compares it; ? lists all keys.

--at takes ` + momentForms + `. --follow shows the end of a recording that is
still being written, as it grows.`,
		Args: one("a recording: llmtop replay FILE|DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if follow {
				if once || at != "" {
					return usage(errors.New("--follow shows the end as it grows: it takes neither --at nor --once"), "")
				}
				return runFollow(cmd, args[0])
			}
			return runReplay(cmd, args[0], once, at)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "print one frame as plain text and exit")
	cmd.Flags().StringVar(&at, "at", "", "where to begin (`time`; with --once the end is shown by default)")
	cmd.Flags().BoolVar(&follow, "follow", false, "show the end of a growing recording, like a live screen")
	return cmd
}

func runReplay(cmd *cobra.Command, path string, once bool, at string) error {
	reader, err := openRecording(path)
	if err != nil {
		return err
	}
	defer reader.Close()
	line, err := newRecorded(reader)
	if err != nil {
		return failed(err, "")
	}
	if line.last() < 0 {
		return noSample(path)
	}
	start, end := line.ends()
	frame := panes.Frame{Title: filepath.Base(path), Mode: panes.Replay, Look: panes.LookOf(os.Getenv)}
	where := 0 // by number: the first sample is not the earliest when the clock was set back
	if once {
		where = line.last()
	}
	if at != "" {
		moment, err := parseMoment("at", at, start, end)
		if err != nil {
			return err
		}
		where, frame.Message = line.index(moment), farOff(moment, start, end)
	}
	if !once {
		if err := noTerminal(); err != nil {
			return usage(err, "llmtop replay --once prints one frame as plain text")
		}
		return showReplay(cmd.Context(), line, frame, where)
	}
	ticks, err := line.goTo(cmd.Context(), where, newProgress(cmd, "reading the recording"))
	if err != nil {
		return interruption(err, "")
	}
	frame.Ticks = ticks
	frame.Title = titleIn(frame.Title, ticks[len(ticks)-1])
	frame.Position = panes.Position{Start: start, End: end, At: ticks[len(ticks)-1].Point.At}
	width, height := textSize()
	_, err = fmt.Fprint(cmd.OutOrStdout(), panes.Plain(frame, width, height))
	return failed(err, "")
}

func showReplay(ctx context.Context, line *recorded, frame panes.Frame, at int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := newViewer(line, frame, false)
	v.at, v.running, v.marks, v.gaps = at, true, marksOf(line.marks), line.gaps
	v.app = panes.NewApp(nil, v)
	ended := make(chan struct{})
	go func() { defer close(ended); v.run(ctx, nil) }()
	go func() {
		<-ctx.Done()
		v.app.Stop()
	}()
	err := v.app.Run()
	cancel()
	<-ended // the reader is closed after this
	return failed(err, "")
}

// marksOf are the marks of a recording as the screen shows them, oldest first.
func marksOf(all []record.Mark) []panes.Mark {
	var out []panes.Mark
	for _, m := range all {
		out = append(out, panes.Mark{At: m.At, Text: m.Text})
	}
	slices.SortStableFunc(out, func(a, b panes.Mark) int { return a.At.Compare(b.At) })
	return out
}

// textSize is the size for frames printed as text: the terminal's, else COLUMNS and LINES, else 80x24.
func textSize() (width, height int) {
	if w, h, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 && h > 0 {
		return w, h
	}
	width, height = 80, 24
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 && n < 1000 {
		width = n
	}
	if n, err := strconv.Atoi(os.Getenv("LINES")); err == nil && n > 0 && n < 1000 {
		height = n
	}
	return width, height
}
