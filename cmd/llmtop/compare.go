package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
	"llmtop/rules"
)

func newCompareCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare FILE[@FROM..TO] [FILE[@FROM..TO]]",
		Short: "Hold one stretch of time of a recording against another",
		Long: `Says what moved between two stretches of time, of one recording or of two: where the
difference in latency went, and each signal by its name, the one that moved most for its
noise first. A single stretch is held against as much of its recording before it.

FILE may be a store's directory. FROM and TO are times, in UTC, as in replay --at; without
one, the recording's start or end.`,
		Example: `  llmtop compare night.llmrec@04:05..04:07                       against the two minutes before
  llmtop compare night.llmrec@03:00..03:10 night.llmrec@04:00..04:10
  llmtop compare monday.llmrec tuesday.llmrec                    the whole of both`,
		Args: oneOrTwo,
		RunE: func(cmd *cobra.Command, args []string) error {
			p := newProgress(cmd, "comparing")
			c, err := compareArgs(cmd.Context(), args, p, cmd.ErrOrStderr())
			p.end()
			if err != nil {
				return interruption(err, "")
			}
			if asJSON {
				return failed(toJSON(cmd.OutOrStdout(), c), "")
			}
			_, err = io.WriteString(cmd.OutOrStdout(), rules.CompareReport(c))
			return failed(err, "")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

func oneOrTwo(_ *cobra.Command, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return usage(fmt.Errorf("%d arguments given, one or two are needed", len(args)), "name what to compare: llmtop compare FILE@FROM..TO FILE@FROM..TO")
	}
	return nil
}

func compareArgs(ctx context.Context, args []string, p *progress, warnings io.Writer) (c rules.Comparison, err error) {
	opened := opened{}
	defer opened.close()
	var wanted []stretchOf
	for _, arg := range args {
		w, err := parseStretch(arg, opened)
		if err != nil {
			return c, err
		}
		wanted = append(wanted, w)
	}
	if len(wanted) == 1 {
		before, err := wanted[0].before()
		if err != nil {
			return c, err
		}
		wanted = []stretchOf{before, wanted[0]}
	}
	var sums []*rules.Stretch
	for _, w := range wanted {
		s, err := w.sum(ctx, p)
		if err != nil {
			return c, err
		}
		sums = append(sums, s)
	}
	opened.warn(warnings)
	c = rules.Compare(sums[0], sums[1])
	c.Before.Name, c.After.Name = oneLine(wanted[0].name), oneLine(wanted[1].name)
	return c, nil
}

// opened are recordings by path, each opened and folded once.
type opened map[string]*recorded

func (o opened) open(path string) (*recorded, error) {
	if line := o[path]; line != nil {
		return line, nil
	}
	r, err := openRecording(path)
	if err != nil {
		return nil, err
	}
	line, err := newRecorded(r)
	if err != nil {
		r.Close()
		return nil, failed(err, "")
	}
	line.lean = true
	o[path] = line
	return line, nil
}

func (o opened) close() {
	for _, line := range o {
		line.reader.Close()
	}
}

func (o opened) warn(out io.Writer) {
	for path, line := range o {
		if line.reader.Info().Damaged > 0 {
			fmt.Fprintf(out, "llmtop: %s is damaged; compared without what is lost (llmtop info says how much)\n", oneLine(path))
		}
	}
}

// stretchOf is a stretch of a recording, by the numbers of its samples.
type stretchOf struct {
	line     *recorded
	name     string
	from, to int
}

// parseStretch opens the recording of FILE or FILE@FROM..TO and finds the samples meant.
func parseStretch(arg string, files opened) (stretchOf, error) {
	path, times, timed := arg, "", false
	if _, err := os.Stat(arg); err != nil { // a file may have an @ in its name
		if i := strings.LastIndexByte(arg, '@'); i >= 0 {
			path, times, timed = arg[:i], arg[i+1:], true
		}
	}
	from, to, ok := strings.Cut(times, "..")
	if timed && !ok {
		return stretchOf{}, usage(fmt.Errorf("%q is no stretch of time: FROM..TO", oneLine(times)), "for instance "+oneLine(filepath.Base(path))+"@04:05:00..04:06:30")
	}
	line, err := files.open(path)
	if err != nil {
		return stretchOf{}, err
	}
	s := stretchOf{line: line, name: filepath.Base(path), to: line.last()}
	if s.to < 0 {
		err = noSample(path)
	} else if err = s.cut(from, to); err == nil && s.to-s.from+1 < leastCompared {
		err = failed(fmt.Errorf("%s holds fewer than %d samples", oneLine(arg), leastCompared), "")
	}
	return s, err
}

// cut narrows the stretch to the samples from one time to another, both as in --at; "" is
// as far as there is.
func (s *stretchOf) cut(from, to string) error {
	info := s.line.reader.Info()
	t1, err := momentIn(from, info.Start, info)
	if err != nil {
		return err
	}
	t2, err := momentIn(to, info.End, info)
	if err != nil {
		return err
	}
	switch {
	case from == "" && to == "": // also when the clock was set back
		return nil
	case !t2.After(t1):
		return usage(fmt.Errorf("%s..%s ends before it begins", oneLine(from), oneLine(to)), "give the earlier time first")
	}
	if from != "" {
		s.from = s.line.reader.Index(t1)
		if x, err := s.line.reader.At(s.from); err == nil && x.At.Before(t1) {
			s.from++
		}
	}
	if to != "" {
		s.to = s.line.reader.Index(t2)
	}
	return nil
}

// momentIn reads a time that must be within a recording.
func momentIn(text string, otherwise time.Time, info record.Info) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	t, err := parseMoment("", text, info.Start, info.End)
	if err == nil && outside(t, info.Start, info.End) > time.Second {
		err = notWithin("", text, info.Start, info.End)
	}
	return t, err
}

// before is as many samples before the stretch as it has, or as there are.
func (s stretchOf) before() (stretchOf, error) {
	b := stretchOf{line: s.line, name: s.name, from: max(0, 2*s.from-s.to-1), to: s.from - 1}
	if b.to-b.from+1 < leastCompared {
		return b, usage(fmt.Errorf("%s: too little before this stretch to compare it with", oneLine(s.name)), "name a second one: llmtop compare FILE@FROM..TO FILE@FROM..TO")
	}
	return b, nil
}

// sum folds the recording up to the end of the stretch, so that the verdicts are those of
// a replay, and sums the stretch up.
func (s stretchOf) sum(ctx context.Context, p *progress) (*rules.Stretch, error) {
	if err := s.line.judge(ctx, s.to, p); err != nil {
		return nil, err
	}
	x := &sum{from: s.from, to: s.to, next: s.from, stretch: rules.NewStretch()}
	for !x.slice(s.line) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if n := x.stretch.Len(); n < leastCompared {
		return nil, failed(fmt.Errorf("%s: only %d samples of this stretch can be read", oneLine(s.name), n), "")
	}
	return x.stretch, nil
}
