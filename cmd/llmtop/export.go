package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/export"
	"llmtop/rules"
)

type exportOptions struct {
	format, output, from, to string
	signals                  []string
	raw                      bool
}

func newExportCommand() *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export FILE|DIR --format json|csv|openmetrics|perfetto",
		Short: "Write a recording as JSON lines, CSV, OpenMetrics or a trace",
		Long: `Writes what a recording says in a format that other tools read, to standard output or to a
new file (-o). What could not be seen is null or left out, never 0.

  json         one object a line, each with a "type": recording (names and units of the
               signals), sample, finding, event, mark, gap, lost. --raw adds the engine's pages
  csv          a row a sample, a column a signal, times in RFC 3339; a gap is no rows
  openmetrics  signals under their export names with timestamps, for
               promtool tsdb create-blocks-from openmetrics; --raw adds the engine's series
  perfetto     Chrome trace JSON for ui.perfetto.dev: requests with their stages, counters,
               findings and marks. Of engines that tell of each request only

OpenMetrics wants each series whole, so a long recording is read several times: at most
64 MiB of values are held (some 150 MiB of memory in all), whatever its length.

--from and --to take ` + momentForms + `.`,
		Args: one("a recording: llmtop export FILE --format csv"),
		RunE: func(cmd *cobra.Command, args []string) error { return runExport(cmd, args[0], o) },
	}
	cmd.Flags().StringVar(&o.format, "format", "", "json, csv, openmetrics or perfetto")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "a new `file`; - or nothing: standard output")
	cmd.Flags().StringVar(&o.from, "from", "", "first moment (`time`; default: the start)")
	cmd.Flags().StringVar(&o.to, "to", "", "last moment (`time`; default: the end)")
	cmd.Flags().StringSliceVar(&o.signals, "signals", nil, "only these signals (`names`, * allowed: ttft.*,queue.depth)")
	cmd.Flags().BoolVar(&o.raw, "raw", false, "the engine's own series too (json, openmetrics)")
	return cmd
}

func runExport(cmd *cobra.Command, file string, o exportOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	signals, err := pickSignals(o.signals)
	if err != nil {
		return err
	}
	r, err := openRecording(file)
	if err != nil {
		return err
	}
	defer r.Close()
	from, to, err := stretch(r, o.from, o.to)
	if err != nil {
		return err
	}
	p := newProgress(cmd, "exporting")
	defer p.end()
	x := export.Options{From: from, To: to, Signals: signals, Raw: o.raw, Progress: p.report}
	requests := 0
	err = toOutput(cmd, o.output, false, func(w io.Writer) (err error) {
		switch o.format {
		case "json":
			return export.JSON(cmd.Context(), w, r, x)
		case "csv":
			return export.CSV(cmd.Context(), w, r, x)
		case "openmetrics":
			return export.OpenMetrics(cmd.Context(), w, r, x)
		}
		requests, err = export.Trace(cmd.Context(), w, r, x)
		return err
	})
	if err == nil && o.format == "perfetto" && requests == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "llmtop: no engine in it tells of each request: the trace has counters and events only")
	}
	if n := r.Info().Damaged; err == nil && n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "llmtop: %s is damaged; what is lost is not in the export (llmtop verify says where)\n", oneLine(file))
	}
	return err
}

func (o *exportOptions) check() error {
	formats := []string{"json", "csv", "openmetrics", "perfetto"}
	hint := "formats are " + strings.Join(formats, ", ")
	switch {
	case o.format == "":
		return usage(errors.New("which format? give --format"), hint)
	case !slices.Contains(formats, o.format):
		return usage(fmt.Errorf("--format %q is not known", oneLine(o.format)), hint)
	case o.raw && o.format != "json" && o.format != "openmetrics":
		return usage(fmt.Errorf("--raw: %s has no place for the engine's series", o.format), "json and openmetrics have")
	case len(o.signals) > 0 && o.format == "perfetto":
		return usage(errors.New("--signals: the counters of a trace are fixed"), "json, csv and openmetrics take signals")
	}
	return nil
}

// pickSignals are the signals of the table that have one of the names, in the order of the
// names; all of them when there is no name.
func pickSignals(names []string) ([]rules.Signal, error) {
	table := rules.Table()
	if len(names) == 0 {
		return table, nil
	}
	var out []rules.Signal
	for _, name := range names {
		found := false
		for _, s := range table {
			if ok, _ := path.Match(strings.TrimSpace(name), s.Name); !ok {
				continue
			}
			found = true
			if !slices.ContainsFunc(out, func(o rules.Signal) bool { return o.Name == s.Name }) {
				out = append(out, s)
			}
		}
		if !found {
			return nil, usage(fmt.Errorf("--signals: there is no signal %q", oneLine(name)), "signals are "+namesLike(name, table))
		}
	}
	return out, nil
}

// namesLike are the signals of the same family, or the families if there is none.
func namesLike(name string, table []rules.Signal) string {
	var same, families []string
	wanted, _, _ := strings.Cut(strings.TrimSpace(name), ".")
	for _, s := range table {
		family, _, _ := strings.Cut(s.Name, ".")
		if family == wanted {
			same = append(same, s.Name)
		}
		if family += ".*"; !slices.Contains(families, family) {
			families = append(families, family)
		}
	}
	if len(same) > 0 {
		return strings.Join(same, ", ")
	}
	return strings.Join(families, ", ")
}
