package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scene is what one case has started; its end undoes it.
type scene struct {
	dir    string
	engine *process // the stand-in
	undo   []func()
}

func (s *scene) later(f func()) { s.undo = append(s.undo, f) }

func (s *scene) end() {
	for _, f := range slices.Backward(s.undo) {
		f()
	}
}

// testCase is one thing that is done to a stand-in.
type testCase struct {
	name  string
	does  string // what the stand-in does: see standIns; empty: interpreter
	watch time.Duration
	play  func(s *scene) error // beside that; nil: nothing
	wants []want
}

// want is what a signal should be.
type want struct {
	signal   string
	from, to float64
	none     bool // it is to be missing: there is no such thing here
}

func atLeast(signal string, v float64) want        { return want{signal: signal, from: v, to: math.Inf(1)} }
func atMost(signal string, v float64) want         { return want{signal: signal, from: math.Inf(-1), to: v} }
func between(signal string, from, to float64) want { return want{signal: signal, from: from, to: to} }
func unseen(signal string) want                    { return want{signal: signal, none: true} }

func (w want) holds(v float64) bool { return v >= w.from && v <= w.to }

func (w want) String() string {
	switch {
	case w.none:
		return "unseen"
	case math.IsInf(w.to, 1):
		return fmt.Sprintf("≥ %g", w.from)
	case math.IsInf(w.from, -1):
		return fmt.Sprintf("≤ %g", w.to)
	}
	return fmt.Sprintf("%g to %g", w.from, w.to)
}

const (
	usual    = 14 * time.Second
	twoScans = 26 * time.Second // the neighbours are looked at every 10 s
)

// run plays the case and prints what was seen; missed counts the wants that do not hold.
func (c testCase) run(ctx context.Context, llmtop, dir string) (missed int, err error) {
	s := &scene{dir: dir}
	defer s.end()
	if c.does == "interpreter" {
		s.engine, err = startPython(dir)
	} else {
		s.engine, err = startStandIn(strings.ReplaceAll(c.does, "DIR", dir))
	}
	if err != nil {
		return 0, err
	}
	s.later(s.engine.stop)
	if c.play != nil {
		if err := c.play(s); err != nil {
			return 0, err
		}
	}
	file := filepath.Join(dir, c.name+".llmrec")
	if err := record(ctx, llmtop, s.engine.url, file, c.watch); err != nil {
		return 0, err
	}
	seen, err := medians(ctx, llmtop, file, c.wants)
	if err != nil {
		return 0, err
	}
	for _, w := range c.wants {
		value, ok := seen[w.signal]
		text, verdict := "unseen", "MISSED"
		if ok {
			text = strconv.FormatFloat(value, 'g', 3, 64)
		}
		if ok && !w.none && w.holds(value) || !ok && w.none {
			verdict = ""
		} else {
			missed++
		}
		fmt.Printf("%-10s %-28s %12s  %s  %s\n", c.name, w.signal, text, w, verdict)
	}
	return missed, nil
}

// record watches url for a while.
func record(ctx context.Context, llmtop, url, file string, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	cmd := exec.CommandContext(ctx, llmtop, "record", "-o", file, url)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() == context.DeadlineExceeded {
		return nil // as it was to end
	}
	return fmt.Errorf("llmtop record ended by itself: %w: %s", err, out)
}

// medians are the signals' over the last five samples in which each was seen.
func medians(ctx context.Context, llmtop, file string, wants []want) (map[string]float64, error) {
	cmd := exec.CommandContext(ctx, llmtop, "export", file, "--format", "csv")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	table, err := csv.NewReader(out).ReadAll()
	if _, more := io.Copy(io.Discard, out); err == nil {
		err = more
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return nil, err
	}
	if len(table) == 0 {
		return nil, errors.New("the recording has no samples")
	}
	seen := map[string]float64{}
	for _, w := range wants {
		column := slices.Index(table[0], w.signal)
		if column < 0 {
			return nil, fmt.Errorf("llmtop has no signal %s", w.signal)
		}
		var last []float64
		for _, row := range slices.Backward(table[1:]) {
			if v, err := strconv.ParseFloat(row[column], 64); err == nil && len(last) < 5 {
				last = append(last, v)
			}
		}
		if len(last) > 0 {
			slices.Sort(last)
			seen[w.signal] = last[len(last)/2]
		}
	}
	return seen, nil
}
