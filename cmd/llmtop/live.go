package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"llmtop/panes"
	"llmtop/probes"
	"llmtop/probes/discover"
	"llmtop/rules"
)

type liveOptions struct {
	attachOptions
	record string
	once   bool
	ring   ringOptions
}

// firstLook is how long the search for engines may hold up the first frame.
const firstLook = discover.Budget

func runLive(cmd *cobra.Command, args []string, o liveOptions) error {
	if err := checkInterval(o.interval); err != nil {
		return err
	}
	if err := o.ring.check(cmd, o.record); err != nil {
		return err
	}
	if o.once && o.ring.on() {
		return usage(errors.New("--once and --ring exclude each other"), "")
	}
	for _, arg := range args {
		if isFile(arg) {
			return usage(fmt.Errorf("%s is a file", oneLine(arg)), "to look at a recording: llmtop replay "+oneLine(arg))
		}
	}
	urls, err := parseTargets(args)
	if err != nil {
		return err
	}
	o.urls = urls
	if err := noTerminal(); !o.once && err != nil {
		return usage(err, "llmtop --once prints one frame as plain text; llmtop diagnose is for scripts")
	}
	frame := panes.Frame{Title: strings.Join(urls, " "), Waiting: "waiting for " + strings.Join(urls, ", ")}
	if err := o.ready(cmd.Context(), cmd.ErrOrStderr(), firstLook, &frame); err != nil {
		return err
	}
	collector := attach(o.attachOptions)
	defer collector.Close()
	return watch(cmd, collector, o, frame)
}

// watch shows a live source on the screen, or once as text.
func watch(cmd *cobra.Command, source probes.Source, o liveOptions, frame panes.Frame) error {
	s, err := newSession(source)
	if err != nil {
		return failed(err, "")
	}
	if o.record != "" {
		if s.recorder, err = createRecording(cmd.ErrOrStderr(), o.record, o.interval); err != nil {
			return err
		}
		defer s.recorder.Close()
		frame.Recording = filepath.Base(o.record)
	}
	if o.ring.on() {
		s.ring = newIncidents(o.ring, o.interval)
	}
	frame.Look = panes.LookOf(os.Getenv)
	if o.once {
		return printOnce(cmd.Context(), cmd.OutOrStdout(), s, frame)
	}
	err = showLive(cmd.Context(), s, frame)
	if s.ring != nil {
		err = cmp.Or(err, closeIncidents(cmd.ErrOrStderr(), s.ring))
	}
	if err == nil && s.recorder != nil {
		return closeRecording(cmd.ErrOrStderr(), s.recorder, o.record)
	}
	return err
}

// onceSamples is how many samples `--once` takes at most until rates are known.
const onceSamples = 4

// printOnce prints the first frame that has an engine's rates in it, or the last of a few.
func printOnce(ctx context.Context, out io.Writer, s *session, frame panes.Frame) error {
	for range onceSamples {
		tick, err := s.next(ctx)
		if err != nil {
			return failed(err, "")
		}
		frame.Ticks = append(frame.Ticks, tick)
		frame.Title = titleOr(tick, frame.Title)
		if len(tick.Point.Engines) == 0 && len(frame.Ticks) > 1 {
			break
		}
	}
	width, height := textSize()
	_, err := fmt.Fprint(out, panes.Plain(frame, width, height))
	return failed(err, "")
}

func titleOr(tick *rules.Tick, fallback string) string {
	if t := titleOf(tick); t != "" {
		return t
	}
	return fallback
}

// showLive runs the screen over a live session until the user quits or ctx ends.
func showLive(ctx context.Context, s *session, frame panes.Frame) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	past := &history{}
	v := newViewer(past, frame, true)
	v.recorder, v.ring = s.recorder, s.ring
	v.app = panes.NewApp(nil, v)
	arrivals := make(chan func())
	go func() {
		defer close(arrivals)
		for {
			tick, err := s.next(ctx)
			if err != nil {
				return
			}
			select {
			case arrivals <- func() { past.push(tick); v.frame.Title = titleOr(tick, v.frame.Title) }:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer onSIGUSR1(v.signalled)()
	go v.run(ctx, arrivals)
	go func() {
		<-ctx.Done()
		v.app.Stop()
	}()
	return failed(v.app.Run(), "")
}
