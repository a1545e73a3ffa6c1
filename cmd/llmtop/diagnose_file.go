package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
	"llmtop/rules"
)

// diagnoseFile judges a recording: the moment of --at, or all of it.
func diagnoseFile(cmd *cobra.Command, path string, o diagnoseOptions, p *printer) (*rules.Diagnosis, error) {
	reader, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	line, err := newRecorded(reader)
	if err != nil {
		return nil, err
	}
	defer func() {
		if n := reader.Info().Damaged; n > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "llmtop: %s is damaged; the verdict is without what is lost (llmtop info says how much)\n", oneLine(path))
		}
	}()
	if o.at != "" {
		return diagnoseAt(cmd, line, o.at, p)
	}
	if o.watch > 0 {
		return watchAll(cmd.Context(), line, p)
	}
	read := newProgress(cmd, "diagnosing")
	worst, err := worstOf(cmd.Context(), line, read)
	read.end()
	if err != nil || worst == nil {
		return nil, err
	}
	return worst, p.watch(worst)
}

// diagnoseAt is the verdict at a moment, which need not be in the recording.
func diagnoseAt(cmd *cobra.Command, line *recorded, text string, p *printer) (*rules.Diagnosis, error) {
	start, end := line.ends()
	at, err := parseMoment("at", text, start, end)
	if err != nil || line.last() < 0 {
		return nil, err
	}
	ticks, err := line.goTo(cmd.Context(), line.index(at), newProgress(cmd, "diagnosing"))
	if err != nil {
		return nil, err
	}
	if said := farOff(at, start, end); said != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "llmtop: %s\n", said)
	}
	d := ticks[len(ticks)-1].Diagnosis
	return &d, p.watch(&d)
}

// watchAll prints the verdicts of all samples and returns the last.
func watchAll(ctx context.Context, line *recorded, p *printer) (last *rules.Diagnosis, err error) {
	for {
		tick, err := line.session.next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return last, nil
		case err == nil:
			last = &tick.Diagnosis
			err = p.watch(last)
		}
		if err != nil {
			return nil, err
		}
	}
}

// worstOf is the worst verdict in a recording, nil without one.
func worstOf(ctx context.Context, line *recorded, read *progress) (worst *rules.Diagnosis, err error) {
	for {
		tick, err := line.session.next(ctx)
		if errors.Is(err, io.EOF) {
			return worst, nil
		}
		if err != nil {
			return nil, err
		}
		if worse(&tick.Diagnosis, worst) {
			worst = &tick.Diagnosis
		}
		read.report(line.reader.Position(), line.reader.Len())
	}
}

// worse reports that a says more of an incident than b: a named cause before an
// unknown one, before health; the height of an incident before its end; the cause with
// the higher score; what users felt more; of equals the later one.
func worse(a, b *rules.Diagnosis) bool {
	if b == nil {
		return true
	}
	x, y := gravity(a), gravity(b)
	return slices.Compare(x[:], y[:]) >= 0
}

func gravity(d *rules.Diagnosis) (g [4]float64) {
	switch d.State {
	case rules.Degraded:
		g[0], g[2] = 3, d.Causes[0].Score
	case rules.Unknown:
		g[0] = 2
	case rules.Healthy:
		g[0] = 1
	}
	if !d.Ending() {
		g[1] = 1
	}
	if s, ok := d.Worst(); ok && s.From > 0 {
		g[3] = s.To / s.From
	}
	return g
}
