package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"llmtop/engine/twin"
	"llmtop/engine/twin/workload"
	"llmtop/probes/record"
)

func newTwinTraceCommand() *cobra.Command {
	var from, to, output string
	cmd := &cobra.Command{
		Use:   "trace FILE|DIR -o OUT",
		Short: "Make a trace of the requests in a recording",
		Long: `Writes the requests of a recording as a trace that a scenario can replay (trace OUT): when each
arrived, how many tokens prompt and answer had, what prompts may have shared, its class. A
recording has no text, nor has a trace.

Taken are the requests that arrived between --from and --to and finished, each once. Which
prompts begin alike is not recorded: it is guessed from how many of their tokens were in the
cache (docs/twin.md).

--from and --to take ` + momentForms + `.`,
		Args: one("a recording: llmtop twin trace FILE|DIR -o OUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return runTwinTrace(cmd, args[0], from, to, output) },
	}
	cmd.Flags().StringVar(&from, "from", "", "first arrival (`time`; default: the start)")
	cmd.Flags().StringVar(&to, "to", "", "last arrival (`time`; default: the end)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "a new `file` (*.csv); - or nothing: standard output")
	return cmd
}

func runTwinTrace(cmd *cobra.Command, path, fromText, toText, output string) error {
	r, err := openRecording(path)
	if err != nil {
		return err
	}
	defer r.Close()
	t := twin.Recorded{}
	if t.From, t.To, err = stretch(r, fromText, toText); err != nil {
		return err
	}
	if err := readRequests(cmd, r, &t); err != nil {
		return err
	}
	rows := t.Rows()
	if len(rows) == 0 {
		return failed(errors.New("no request in it that arrived and finished then"), "requests are recorded of engines that tell of them (docs/engines.md)")
	}
	err = toOutput(cmd, output, false, func(w io.Writer) error { return workload.WriteTrace(w, rows) })
	if err == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), taken(&t, rows))
	}
	return err
}

// readRequests reads on beyond the stretch: what arrived in it finished later.
func readRequests(cmd *cobra.Command, r *record.Reader, t *twin.Recorded) error {
	first, _ := record.Between(r, t.From, t.To)
	p := newProgress(cmd, "reading")
	defer p.end()
	for i := first; i < r.Len(); i++ {
		p.report(i-first, r.Len()-first)
		s, err := r.At(i)
		if errors.Is(err, record.ErrDamaged) {
			continue
		}
		if err == nil {
			err = cmd.Context().Err()
		}
		if err == nil {
			err = t.Add(s.Requests)
		}
		if err != nil {
			return interruption(err, "no file was left")
		}
	}
	return nil
}

// taken says what is in the trace and what is not.
func taken(t *twin.Recorded, rows []workload.Row) string {
	shared := 0
	for i := range rows {
		if rows[i].Prefix != 0 {
			shared++
		}
	}
	text := fmt.Sprintf("%s over %s, %d with a prefix", counted(len(rows), "request"), rows[len(rows)-1].At.Round(1e6), shared)
	for _, left := range []struct {
		n    int
		what string
	}{{t.Unknown, "of unknown length left out"}, {t.Outside, "that arrived at other times"}, {t.Missed, "that finished unseen"}} {
		if left.n > 0 {
			text += fmt.Sprintf("; %d %s", left.n, left.what)
		}
	}
	if t.Partial {
		text += "; told by traces, which may be a sample of all"
	}
	return text
}
