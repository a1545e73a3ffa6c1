package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/drill"
)

// listedDrill is a drill as `drill list --json` prints it.
type listedDrill struct {
	ID      string                      `json:"id"`
	Kind    drill.Kind                  `json:"kind"`
	Engines map[string][]drill.Severity `json:"engines"` // the severities that it has on each; of a control none
	Expects []string                    `json:"expects,omitempty"`
	Story   string                      `json:"story"`
}

// undrilled is a cause without a drill.
type undrilled struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// drillList is what can be drilled, and what not.
type drillList struct {
	Drills    []listedDrill `json:"drills"`
	Undrilled []undrilled   `json:"undrilled"`
}

func newDrillListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what can be drilled, and what not, and why",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := listDrills()
			if err != nil {
				return failed(err, "")
			}
			if asJSON {
				return failed(toJSON(cmd.OutOrStdout(), list), "")
			}
			return failed(list.print(cmd.OutOrStdout()), "")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object")
	return cmd
}

func listDrills() (*drillList, error) {
	all, err := drill.All()
	if err != nil {
		return nil, err
	}
	without, err := drill.AllUndrilled()
	if err != nil {
		return nil, err
	}
	list := &drillList{}
	for _, d := range all {
		l := listedDrill{ID: d.ID, Kind: d.Kind, Engines: map[string][]drill.Severity{}, Expects: d.Expects, Story: d.Story}
		for _, engine := range drill.Engines {
			if severities := d.On(engine); len(severities) > 0 {
				l.Engines[engine] = severities
			}
		}
		list.Drills = append(list.Drills, l)
	}
	for _, u := range without {
		list.Undrilled = append(list.Undrilled, undrilled{u.ID, u.Why})
	}
	return list, nil
}

func (l *drillList) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "drill\tkind\ttwin\tcpu\twhat happens")
	for i := range l.Drills {
		d := &l.Drills[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", d.ID, d.Kind, d.on("twin"), d.on("cpu"), d.Story)
	}
	if len(l.Undrilled) > 0 {
		fmt.Fprintln(t, "\nnot drilled\twhy")
	}
	for _, u := range l.Undrilled {
		fmt.Fprintf(t, "%s\t%s\n", u.ID, u.Reason)
	}
	return t.Flush()
}

// on says in a few letters how severe a drill can be on an engine: "mild–severe", "yes" of a control.
func (d *listedDrill) on(engine string) string {
	severities, ok := d.Engines[engine]
	if !ok {
		return "-"
	}
	var words []string
	for _, s := range severities {
		if s != "" {
			words = append(words, string(s))
		}
	}
	switch {
	case len(words) == 0:
		return "yes"
	case len(words) == len(drill.Severities):
		return words[0] + "–" + words[len(words)-1]
	}
	return strings.Join(words, ", ")
}
