package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"llmtop/panes"
)

func newReplayCommand() *cobra.Command {
	var (
		once bool
		at   string
	)
	cmd := &cobra.Command{
		Use:   "replay FILE|DIR",
		Short: "Look at a recording, as it was live",
		Long: `Shows a recording on the live screen. space plays and pauses, the arrow keys step,
[ ] and { } jump, n goes to the next finding; ? lists all keys.

--at takes a wall-clock time (15:04:05, 2026-01-02T15:04:05Z), a time from the start
(90s, 5m), or a time before the end (-30s).`,
		Args: one("a recording: llmtop replay FILE|DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return runReplay(cmd, args[0], once, at) },
	}
	cmd.Flags().BoolVar(&once, "once", false, "print one frame as plain text and exit")
	cmd.Flags().StringVar(&at, "at", "", "where to begin (`time`; with --once the end is shown by default)")
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
		return failed(fmt.Errorf("%s holds no sample", path), "")
	}
	start, end := line.ends()
	where := start
	if once {
		where = end
	}
	if at != "" {
		if where, err = parseMoment(at, start, end); err != nil {
			return usage(err, "")
		}
	}
	frame := panes.Frame{Title: filepath.Base(path), Mode: panes.Replay, Look: panes.LookOf(os.Getenv), Message: farOff(where, start, end)}
	if !once {
		if err := noTerminal(); err != nil {
			return usage(err, "llmtop replay --once prints one frame as plain text")
		}
		return showReplay(cmd.Context(), line, frame, line.index(where))
	}
	ticks, err := line.upTo(line.index(where))
	if err != nil {
		return failed(err, "")
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
	v.at, v.running, v.marks = at, true, line.marks
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

// parseMoment reads a time of a recording that lasts from start to end.
func parseMoment(text string, start, end time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		if d < 0 {
			return end.Add(d), nil
		}
		return start.Add(d), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{"15:04:05.999999999", "15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return nearestDay(t, start, end), nil
		}
	}
	return time.Time{}, fmt.Errorf("--at %q is no time: give 15:04:05 (UTC), 2026-01-02T15:04:05Z, 90s from the start or -30s before the end", oneLine(text))
}

// nearestDay is a time of day on the day on which it is in the recording, or nearest to it.
func nearestDay(t, start, end time.Time) time.Time {
	s := start.UTC()
	first := time.Date(s.Year(), s.Month(), s.Day()-1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	best := first
	for day := first; !day.After(end.AddDate(0, 0, 1)); day = day.AddDate(0, 0, 1) {
		if outside(day, start, end) < outside(best, start, end) {
			best = day
		}
	}
	return best
}

// outside is how far t is from the stretch of time from start to end, 0 within.
func outside(t, start, end time.Time) time.Duration {
	return max(start.Sub(t), t.Sub(end), 0)
}

// farOff says that a moment asked for is not in the recording; a second is no matter.
func farOff(t, start, end time.Time) string {
	switch {
	case outside(t, start, end) <= time.Second:
		return ""
	case t.Before(start):
		return "--at is before the recording: shown is its first sample"
	}
	return "--at is after the recording: shown is its last sample"
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
