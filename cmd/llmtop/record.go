package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
)

func newRecordCommand() *cobra.Command {
	var (
		output             string
		duration, interval time.Duration
	)
	cmd := &cobra.Command{
		Use:   "record -o FILE [URL…]",
		Short: "Record without a screen",
		Long: `Writes everything that is seen to a new file until the duration is over or it is
interrupted. kill -9 loses at most the sample being written; the file can be copied
and replayed while it grows. Lengths, times and numbers are kept, never prompt text.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usage(errors.New("where to? give a file with -o"), "")
			}
			if err := checkInterval(interval); err != nil {
				return err
			}
			if err := checkDuration("duration", duration); err != nil {
				return err
			}
			return runRecord(cmd, args, output, duration, interval)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the new `file` (*.llmrec)")
	cmd.Flags().DurationVar(&duration, "duration", 0, "how long (0: until interrupted)")
	cmd.Flags().DurationVar(&interval, "interval", time.Second, "time between samples")
	return cmd
}

func runRecord(cmd *cobra.Command, args []string, output string, duration, interval time.Duration) error {
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

func manifest(interval time.Duration) record.Manifest {
	host, _ := os.Hostname() // a recording without it is still one
	return record.Manifest{
		Version: version(), Created: time.Now().UTC(), Interval: interval,
		Host: host, OS: runtime.GOOS + " " + runtime.GOARCH, CPUs: runtime.NumCPU(),
		Facts: map[string]string{"go": runtime.Version()},
	}
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
