package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/child"
	"llmtop/probes/record"
)

// recordOptions say where headless recording goes and for how long.
type recordOptions struct {
	attachOptions
	output   string
	store    storeOptions
	ring     ringOptions
	duration time.Duration

	withParent bool
}

func newRecordCommand() *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:   "record -o FILE | --store DIR | --ring SPAN --ring-dir DIR [URL…]",
		Short: "Record without a screen, into a file or a bounded store of files",
		Long: `Writes everything that is seen until the duration is over or it is interrupted. kill -9
loses at most the sample being written; what is written can be copied and replayed while
it grows. Lengths, times and numbers are kept, never prompt text. Without a URL the engines
of this host are recorded.

-o FILE makes a file, or goes on with a recording that nobody is writing. --store DIR
keeps the last hours in a directory of files, the oldest dropped as it is told by
--retain and --max-size; the other commands, but for verify and repair, take DIR as they
take a file.

With --ring 15m --ring-dir DIR the last 15 minutes are kept in memory instead. When a cause
is named, or on SIGUSR1, they are written to DIR/llmtop-TIME-CAUSE.llmrec, and the file goes on
for --post after the last such moment. No file is ever deleted; none is begun when the disk has
less than 256 MiB free or DIR holds --ring-files of them.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return runRecord(cmd, args, o)
		},
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "the `file` (*.llmrec); a recording that is there is gone on with")
	o.store.flags(cmd)
	o.ring.flags(cmd, "")
	cmd.Flags().DurationVar(&o.duration, "duration", 0, "how long (0: until interrupted)")
	cmd.Flags().BoolVar(&o.withParent, "with-parent", false, "end with the parent process")
	cmd.Flags().MarkHidden("with-parent")
	o.attachOptions.flags(cmd)
	return cmd
}

func (o *recordOptions) check(cmd *cobra.Command) error {
	if err := o.ring.check(cmd, cmp.Or(o.output, o.store.dir)); err != nil {
		return err
	}
	switch {
	case o.output == "" && o.store.dir == "" && !o.ring.on():
		return usage(errors.New("where to? give a file with -o, or a directory with --store"), "")
	case o.output != "" && o.store.dir != "":
		return usage(errors.New("-o and --store: one of them, not both"), "")
	case o.output == "-":
		return newRecordingPath(o.output)
	}
	if err := o.store.check(cmd); err != nil {
		return err
	}
	if err := checkInterval(o.interval); err != nil {
		return err
	}
	return checkDuration("duration", o.duration)
}

func runRecord(cmd *cobra.Command, args []string, o recordOptions) error {
	urls, err := parseTargets(args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	if o.withParent {
		child.Parent(os.Stdin, func(string) {}, cancel)
	}
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	o.urls = urls
	if err := o.ready(ctx, cmd.ErrOrStderr(), time.Second, nil); err != nil {
		return err
	}
	out := newLines(cmd.ErrOrStderr())
	defer out.close()
	defer spareSIGPIPE()()
	if o.ring.on() {
		return recordRing(ctx, out, o.attachOptions, o.ring)
	}
	path := o.output
	var recorder *record.Writer
	if path != "" {
		recorder, err = createRecording(out, path, o.interval)
	} else {
		path = o.store.dir
		recorder, err = o.store.open(out, o.interval)
	}
	if err != nil {
		return err
	}
	collector := attach(o.attachOptions)
	defer collector.Close()
	s, err := newSession(collector)
	if err != nil {
		recorder.Close()
		return failed(err, "")
	}
	s.recorder = recorder
	defer onSIGUSR1(func() { out.printf("SIGUSR1: %s", startWithRing) })()
	t := trouble{out: out, path: path}
	engines := newReach(out.printf)
	for {
		tick, err := s.next(ctx)
		if err != nil {
			break // the time is over, or it was interrupted
		}
		t.tell(recorder.Err())
		engines.observe(tick.Point.Probes)
	}
	return closeRecording(out, recorder, path)
}

// trouble says once that a recording does not grow, and once that it does again.
type trouble struct {
	out  io.Writer
	path string
	said string
}

func (t *trouble) tell(err error) {
	why := whyNot(err)
	switch {
	case why == t.said:
		return
	case why == "":
		fmt.Fprintf(t.out, "llmtop: %s: recording again\n", oneLine(t.path))
	default:
		fmt.Fprintf(t.out, "llmtop: %s: NOT RECORDING: %s\n", oneLine(t.path), why)
	}
	t.said = why
}

// createRecording makes a recording, or goes on with one that nobody is writing.
func createRecording(out io.Writer, path string, interval time.Duration) (*record.Writer, error) {
	w, err := record.Create(path, manifest(interval))
	if !errors.Is(err, record.ErrExists) {
		return w, failed(err, "")
	}
	if w, err = record.Append(path, manifest(interval)); err != nil {
		return nil, failed(err, "nothing there was changed; give another file")
	}
	fmt.Fprintf(out, "%s: going on after %d samples\n", oneLine(path), w.Before())
	return w, nil
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
	files := ""
	if info.Files != 1 {
		files = fmt.Sprintf(" in %d files", info.Files)
	}
	fmt.Fprintf(out, "%s: %d samples, %s, %d bytes%s\n", oneLine(path), info.Samples, info.End.Sub(info.Start).Round(time.Second), info.Bytes, files)
	if n := w.Stats().Dropped; n > 0 {
		fmt.Fprintf(out, "%s: %d samples could not be written\n", oneLine(path), n)
	}
	return nil
}
