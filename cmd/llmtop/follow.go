package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"llmtop/panes"
	"llmtop/probes/record"
)

// followPoll is how often a followed recording is looked at.
const followPoll = 250 * time.Millisecond

// runFollow shows a recording that is still being written like a live engine: the newest
// sample as it comes, and as much before it as a live screen keeps.
func runFollow(cmd *cobra.Command, path string) error {
	reader, err := openRecording(path)
	if err != nil {
		return err
	}
	defer reader.Close()
	if err := noTerminal(); err != nil {
		return usage(err, "llmtop replay --once prints one frame as plain text")
	}
	s, err := newSession(reader)
	if err != nil {
		return failed(err, "")
	}
	name := filepath.Base(path)
	frame := panes.Frame{Title: name, Look: panes.LookOf(os.Getenv), Waiting: "waiting for the first sample of " + name}
	past := &history{}
	v := newViewer(past, frame, true)
	v.marks = marksOf(reader.Info().Marks)
	v.app = panes.NewApp(nil, v)
	return followScreen(cmd.Context(), &follower{s, reader, v, past, name})
}

// follower feeds what is appended to a recording to a screen.
type follower struct {
	session *session
	reader  *record.Reader
	viewer  *viewer
	past    *history
	name    string
}

func followScreen(ctx context.Context, f *follower) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	arrivals, ended := make(chan func()), make(chan struct{})
	go func() { defer close(ended); f.feed(ctx, arrivals) }()
	go f.viewer.run(ctx, arrivals)
	go func() {
		<-ctx.Done()
		f.viewer.app.Stop()
	}()
	err := f.viewer.app.Run()
	cancel()
	<-ended // the reader is closed after this
	return failed(err, "")
}

// feed reads up to the end and then waits for more, until the recording is closed.
func (f *follower) feed(ctx context.Context, arrivals chan<- func()) {
	defer close(arrivals)
	there := f.reader.Len()
	f.reader.Follow(followPoll)
	send := func(do func()) {
		select {
		case arrivals <- do:
		case <-ctx.Done():
		}
	}
	quiet := f.watchQuiet(ctx, send)
	defer quiet.stop()
	for {
		tick, err := f.session.next(ctx)
		if err != nil {
			quiet.stop()
			send(func() { f.viewer.catching = f.over(err) })
			return
		}
		quiet.reset()
		catching := ""
		if n := f.reader.Position(); n < there {
			catching = fmt.Sprintf("reading the recording … %d %%", 100*n/there)
		}
		send(func() {
			f.past.push(tick)
			f.viewer.frame.Title, f.viewer.catching = titleIn(f.name, tick), catching
		})
	}
}

// over says why no more comes.
func (f *follower) over(err error) string {
	if errors.Is(err, io.EOF) {
		return "the recording was closed: this is its end"
	}
	return oneLine(err.Error())
}
