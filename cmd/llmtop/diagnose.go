package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"llmtop/rules"
)

// A live engine is looked at for at most liveLook; a verdict that names a cause and
// stands for settled samples ends it sooner.
const (
	liveLook = 15 * time.Second
	settled  = 3
)

type diagnoseOptions struct {
	attachOptions
	json  bool
	watch time.Duration
	at    string
}

func newDiagnoseCommand() *cobra.Command {
	var o diagnoseOptions
	cmd := &cobra.Command{
		Use:   "diagnose URL…|FILE|DIR",
		Short: "Print the verdict on an engine or a recording",
		Long: `Looks at a running engine (or several, as one service) for up to 15 seconds, or at a whole
recording, and prints the verdict: of a recording the worst one in it (--at picks a moment).
--watch keeps looking and prints a verdict for each sample (--json) or for each change.

The exit status is 0 healthy, 1 degraded, 2 usage, 3 nothing measurable, 4 degraded with
unknown cause. With --watch it is that of the last verdict.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && !slices.ContainsFunc(args, func(arg string) bool { return isRecording(arg) || !looksLikeURL(arg) }) {
				return nil
			}
			return one("an engine or a recording: llmtop diagnose URL…|FILE|DIR")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runDiagnose(cmd, args, o) },
	}
	o.attachOptions.flags(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "one JSON object a line")
	cmd.Flags().DurationVar(&o.watch, "watch", 0, "keep looking for this long")
	cmd.Flags().StringVar(&o.at, "at", "", "the moment of a recording (`time` as in replay --at)")
	return cmd
}

func runDiagnose(cmd *cobra.Command, args []string, o diagnoseOptions) error {
	if err := checkDuration("watch", o.watch); err != nil {
		return err
	}
	if err := checkInterval(o.interval); err != nil {
		return err
	}
	p := printer{out: cmd.OutOrStdout(), warn: cmd.ErrOrStderr(), json: o.json}
	var last *rules.Diagnosis
	var err error
	switch arg := args[0]; {
	case isRecording(arg):
		last, err = diagnoseFile(cmd, arg, o, &p)
	case looksLikeURL(arg):
		last, err = diagnoseLive(cmd.Context(), args, o, &p)
	default:
		err = usage(fmt.Errorf("%q is neither a file nor a URL", oneLine(arg)), "give http://HOST:PORT or a recording")
	}
	if err != nil {
		var exit *exitError
		if errors.As(err, &exit) && exit.code == exitUsage {
			return err
		}
		return &exitError{code: exitUnmeasurable, err: interruption(err, "")}
	}
	return status(last)
}

// isRecording tells a file or a store from an address.
func isRecording(arg string) bool { return isFile(arg) || isDirectory(arg) && !looksLikeURL(arg) }

// status turns the last verdict into the exit status.
func status(d *rules.Diagnosis) error {
	if d == nil {
		return &exitError{code: exitUnmeasurable, err: errors.New("no sample to judge by")}
	}
	if code := exitCode(d.State); code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

func diagnoseLive(ctx context.Context, args []string, o diagnoseOptions, p *printer) (*rules.Diagnosis, error) {
	urls, err := parseTargets(args)
	if err != nil {
		return nil, err
	}
	o.urls = urls
	if o.at != "" {
		return nil, usage(errors.New("--at picks a moment of a recording, and this is an engine"), "")
	}
	if err := o.ready(ctx, p.warn, 0, nil); err != nil {
		return nil, err
	}
	look := liveLook
	if o.watch > 0 {
		look = o.watch
	}
	ctx, cancel := context.WithTimeout(ctx, look)
	defer cancel()
	collector := attach(o.attachOptions)
	defer collector.Close()
	s, err := newSession(collector)
	if err != nil {
		return nil, err
	}
	var tick *rules.Tick
	for steady := 0; ; {
		next, err := s.next(ctx)
		if err != nil {
			break // the look is over
		}
		steady = steadiness(steady, tick, next)
		tick = next
		if o.watch > 0 {
			if err := p.watch(&tick.Diagnosis); err != nil {
				return nil, err
			}
		} else if steady >= settled || silent(tick) {
			break
		}
	}
	if tick == nil {
		return nil, nil
	}
	if err := unreachable(tick, urls[0]); err != nil {
		if o.json && o.watch == 0 {
			return nil, errors.Join(p.print(&tick.Diagnosis), err)
		}
		return nil, err
	}
	for _, err := range unread(tick) {
		fmt.Fprintf(p.warn, "llmtop: %s\n", oneLine(err)) // the verdict is on the others
	}
	if o.watch == 0 {
		return &tick.Diagnosis, p.print(&tick.Diagnosis)
	}
	return &tick.Diagnosis, nil
}

// steadiness counts the samples for which a verdict that names a cause has stood.
func steadiness(count int, before, now *rules.Tick) int {
	if now.Diagnosis.State != rules.Degraded || before == nil || verdictKey(&before.Diagnosis) != verdictKey(&now.Diagnosis) {
		return 0
	}
	return count + 1
}

// silent reports engines none of which ever gave a metrics page and whose probes have
// failed for patience samples: waiting longer would tell nothing more.
func silent(t *rules.Tick) bool {
	const patience = 3
	if len(t.Point.Scrapes) > 0 || t.Point.Seq < patience {
		return false
	}
	return len(unread(t)) == scrapes(t)
}

func scrapes(t *rules.Tick) (n int) {
	for _, p := range t.Point.Probes {
		if strings.HasPrefix(p.Name, "scrape") {
			n++
		}
	}
	return n
}

// unread are the errors of the engines whose metrics could not be read last.
func unread(t *rules.Tick) (errs []string) {
	for _, p := range t.Point.Probes {
		if strings.HasPrefix(p.Name, "scrape") && p.Err != "" {
			errs = append(errs, p.Err)
		}
	}
	return errs
}

// unreachable is the error of the engine's own probe when it never gave a metrics page.
func unreachable(t *rules.Tick, url string) error {
	if len(t.Point.Scrapes) > 0 {
		return nil
	}
	for _, p := range t.Point.Probes {
		if p.Err != "" && !p.Lacks {
			return errors.New(p.Err)
		}
	}
	return fmt.Errorf("%s did not answer", url)
}

// printer writes verdicts as text or as JSON lines.
type printer struct {
	out  io.Writer
	warn io.Writer
	json bool
	last string
}

func (p *printer) print(d *rules.Diagnosis) error {
	if p.json {
		return toJSON(p.out, d)
	}
	_, err := io.WriteString(p.out, rules.Report(*d))
	return err
}

// watch prints every verdict as JSON, or as text those that differ from the one before.
func (p *printer) watch(d *rules.Diagnosis) error {
	key := verdictKey(d)
	if !p.json && key == p.last {
		return nil
	}
	p.last = key
	if !p.json {
		if _, err := fmt.Fprintf(p.out, "at %s\n", d.Time.Format(time.TimeOnly)); err != nil {
			return err
		}
	}
	return p.print(d)
}
