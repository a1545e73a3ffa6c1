package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
)

func newRecordCommand() *cobra.Command {
	var (
		output             string
		duration, interval time.Duration
		ring               ringOptions
	)
	cmd := &cobra.Command{
		Use:   "record -o FILE [URL…]",
		Short: "Record without a screen",
		Long: `Writes everything that is seen to a new file until the duration is over or it is
interrupted. kill -9 loses at most the sample being written; the file can be copied
and replayed while it grows. Lengths, times and numbers are kept, never prompt text.

With --ring 15m --ring-dir DIR instead of -o the last 15 minutes are kept in memory. When a cause
is named, or on SIGUSR1, they are written to DIR/llmtop-TIME-CAUSE.llmrec, and the file goes on
for --post after the last such moment. No file is ever deleted; none is begun when the disk has
less than 256 MiB free or DIR holds --ring-files of them.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := ring.check(cmd, output); err != nil {
				return err
			}
			if output == "" && !ring.on() {
				return usage(errors.New("where to? give a file with -o"), "")
			}
			if err := checkInterval(interval); err != nil {
				return err
			}
			if err := checkDuration("duration", duration); err != nil {
				return err
			}
			return runRecord(cmd, args, output, ring, duration, interval)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the new `file` (*.llmrec)")
	cmd.Flags().DurationVar(&duration, "duration", 0, "how long (0: until interrupted)")
	ring.flags(cmd, "")
	cmd.Flags().DurationVar(&interval, "interval", time.Second, "time between samples")
	return cmd
}

func runRecord(cmd *cobra.Command, args []string, output string, ring ringOptions, duration, interval time.Duration) error {
	urls, err := parseTargets(args)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, duration)
		defer cancel()
	}
	if len(urls) == 0 {
		urls = discover(ctx, time.Second)
	}
	if ring.on() {
		return recordRing(ctx, cmd, urls, ring, interval)
	}
	recorder, err := createRecording(output, interval)
	if err != nil {
		return err
	}
	collector := attach(urls, interval)
	defer collector.Close()
	s, err := newSession(collector)
	if err != nil {
		recorder.Close()
		return failed(err, "")
	}
	s.recorder = recorder
	defer onSIGUSR1(func() { fmt.Fprintln(cmd.ErrOrStderr(), "SIGUSR1: "+startWithRing) })()
	for {
		if _, err := s.next(ctx); err != nil {
			break // the time is over, or it was interrupted
		}
	}
	return closeRecording(cmd.ErrOrStderr(), recorder, output)
}

func createRecording(path string, interval time.Duration) (*record.Writer, error) {
	w, err := record.Create(path, manifest(interval))
	return w, failed(err, "")
}

// closeRecording finishes the file and says what is in it.
func closeRecording(out io.Writer, w *record.Writer, path string) error {
	if err := w.Close(); err != nil {
		return failed(fmt.Errorf("recording %s: %w", path, err), "what was written before is whole")
	}
	r, err := openRecording(path)
	if err != nil {
		return err
	}
	defer r.Close()
	info := r.Info()
	fmt.Fprintf(out, "%s: %d samples, %s, %d bytes\n", path, info.Samples, info.End.Sub(info.Start).Round(time.Second), info.Bytes)
	return nil
}
