package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"llmtop/engine/twin"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
	"llmtop/rules/roofline"
)

func newTwinCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "twin",
		Short: "Simulate an engine at the scale of GPUs",
		Long: `A twin is a simulated engine: the same scheduler and block manager as llmtop's own, over a
model of real GPUs, with what an engine's metrics, NVML and the host would show. What is
simulated follows from a scenario, a text file (docs/twin.md); some come along. Here it runs
in virtual time; llmtop serve --twin and demo --twin do it in real time.`,
		Example: `  llmtop twin list scenarios                     what comes along
  llmtop twin show kv-pool                       its text
  llmtop twin run kv-pool -o incident.llmrec     four minutes of four GPUs in a second or two
  llmtop replay incident.llmrec                  look at it
  llmtop twin check mine.scenario                what a scenario of your own means
  llmtop twin list knobs                         what can be changed in it`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage(errors.New("what of the twin? give one of its commands"), "llmtop twin --help lists them")
		},
	}
	cmd.AddCommand(newTwinListCommand(), newTwinShowCommand(), newTwinCheckCommand(), newTwinTraceCommand(), newTwinRunCommand())
	return cmd
}

// twinLists are the tables of `twin list`, in order.
var twinLists = []struct {
	name  string
	print func(io.Writer)
}{
	{"scenarios", listScenarios}, {"gpus", listGPUs}, {"models", listModels}, {"engines", listEngines},
	{"workloads", listWorkloads}, {"knobs", listKnobs}, {"statements", listStatements},
}

func newTwinListCommand() *cobra.Command {
	names := make([]string, len(twinLists))
	for i, l := range twinLists {
		names[i] = l.name
	}
	return &cobra.Command{
		Use:   "list [" + strings.Join(names, "|") + "]",
		Short: "List what scenarios may name",
		Long: `Lists what scenarios may name, all of it or one of the lists. The lines are long: in a small
terminal, llmtop twin list knobs | less -S.`,
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(fmt.Errorf("%d arguments given, one at most", len(args)), "it is one of "+strings.Join(names, ", "))
			}
			if len(args) == 1 && !slices.Contains(names, strings.ToLower(args[0])) {
				return usage(knob.Unknown("list", args[0], names), "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for i, l := range twinLists {
				if len(args) == 1 && strings.ToLower(args[0]) != l.name {
					continue
				}
				if len(args) == 0 {
					fmt.Fprintf(t, "%s%s\n", map[bool]string{true: "\n"}[i > 0], strings.ToUpper(l.name))
				}
				l.print(t)
			}
			return failed(t.Flush(), "")
		},
	}
}

func listScenarios(w io.Writer) {
	for _, name := range twin.Examples() {
		fmt.Fprintf(w, "%s\t%s\n", name, twin.About(name))
	}
}

func listGPUs(w io.Writer) {
	fmt.Fprintln(w, "name\tmemory GiB\tGB/s\tbf16 TFLOP/s\tfp8\twatts\tNVLink GB/s\tNVML")
	for _, g := range roofline.GPUs {
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.0f\t%s\t%.0f\t%s\t%s\n", g.Name, g.Memory/(1<<30), g.Bandwidth/1e9, g.BF16/1e12, amountOrDash(g.FP8/1e12), g.PowerLimit, amountOrDash(g.NVLink/1e9), g.NVML)
	}
}

func listModels(w io.Writer) {
	fmt.Fprintln(w, "name\tparameters\tactive\tlayers\tKV bytes a token\tcontext")
	for _, m := range roofline.Models {
		fmt.Fprintf(w, "%s\t%.1fB\t%.1fB\t%d\t%.0f\t%d\n", m.Name, m.Total()/1e9, m.Active()/1e9, m.Layers, m.KVBytesPerToken(roofline.BF16), m.Context)
	}
}

// amountOrDash is a number, or nothing when there is no such thing.
func amountOrDash(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", v)
}

func listEngines(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", strings.Join(twin.Personalities, ", "))
	for _, s := range twin.Settings() {
		fmt.Fprintf(w, "%s=\t%s\t%s\n", s.Name, s.Takes, s.Doc)
	}
}

func listWorkloads(w io.Writer) {
	for _, k := range workload.Kinds {
		fmt.Fprintf(w, "%s\t%s\n", k.Stream.Kind, k.Doc)
	}
	fmt.Fprintln(w)
	for _, o := range workload.Options() {
		fmt.Fprintf(w, "%s=\t%s\t%s\n", o.Name, o.Takes, o.Doc)
	}
}

func listKnobs(w io.Writer) {
	for id := range knob.Table {
		k := &knob.Table[id]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", k.Name, k.Of(), k.Takes(), k.Doc)
	}
}

func listStatements(w io.Writer) {
	for _, s := range twin.Statements() {
		fmt.Fprintf(w, "%s\t%s\n", s.Example, s.Doc)
	}
}

func newTwinShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Print a scenario that comes along",
		Args:  one("a scenario: llmtop twin show chat (llmtop twin list scenarios lists them)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := twin.Example(args[0])
			if err != nil {
				return usage(err, "")
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return failed(err, "")
		},
	}
}

// readScenario reads a scenario file, or one that comes along if there is no file of that name.
// Only a file is read: a pipe would never end.
func readScenario(path string) (twin.Scenario, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && slices.Contains(twin.Examples(), path):
		s, err := twin.ParseExample(path)
		return s, failed(err, "")
	case err != nil:
		return twin.Scenario{}, failed(fmt.Errorf("opening %s: %w", path, errors.Unwrap(err)), "name a file, or a scenario that comes along (llmtop twin list scenarios)")
	case !info.Mode().IsRegular():
		return twin.Scenario{}, failed(fmt.Errorf("%s is no file", path), "")
	}
	f, err := os.Open(path)
	if err != nil {
		return twin.Scenario{}, failed(err, "")
	}
	defer f.Close()
	s, err := twin.Parse(f, path)
	if err != nil {
		return s, usage(err, "docs/twin.md has the language; llmtop twin show chat prints an example")
	}
	return s, nil
}
