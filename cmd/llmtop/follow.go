package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	v.app = panes.NewApp(nil, v)
	f := &follower{session: s, reader: reader, viewer: v, past: past, name: name}
	v.marks = f.fresh(reader.Info().Marks)
	return followScreen(cmd.Context(), f)
}

// follower feeds what is appended to a recording to a screen.
type follower struct {
	session *session
	reader  *record.Reader
	viewer  *viewer
	past    *history
	name    string
	marked  map[record.Mark]bool // those the screen knows
}

// fresh are the marks that the screen does not know yet.
func (f *follower) fresh(all []record.Mark) []panes.Mark {
	var news []record.Mark
	for _, m := range all {
		if f.marked == nil {
			f.marked = map[record.Mark]bool{}
		}
		if !f.marked[m] {
			f.marked[m] = true
			news = append(news, m)
		}
	}
	return marksOf(news)
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
			marks := f.fresh(f.reader.NewestMarks())
			send(func() {
				f.viewer.catching = f.over(err)
				f.viewer.marked(marks)
			})
			return
		}
		quiet.reset()
		catching, marks := "", []panes.Mark(nil)
		if n := f.reader.Position(); n < there {
			catching = fmt.Sprintf("reading the recording … %d %%", 100*n/there)
		} else {
			marks = f.fresh(f.reader.NewestMarks())
		}
		send(func() {
			f.past.push(tick)
			f.viewer.frame.Title, f.viewer.catching = titleIn(f.name, tick), catching
			f.viewer.marked(marks)
		})
	}
}

// marked takes in marks that others set.
func (v *viewer) marked(marks []panes.Mark) {
	if len(marks) == 0 {
		return
	}
	v.marks = append(slices.Clone(v.marks), marks...)
	slices.SortStableFunc(v.marks, func(a, b panes.Mark) int { return a.At.Compare(b.At) })
	v.keepSaid(oneLine("mark: " + marks[len(marks)-1].Text))
}

// over says why no more comes.
func (f *follower) over(err error) string {
	if errors.Is(err, io.EOF) {
		return "the recording was closed: this is its end"
	}
	return oneLine(err.Error())
}
