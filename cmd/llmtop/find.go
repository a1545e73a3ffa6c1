package main

import (
	"errors"
	"fmt"
	"io"
	"os/user"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes/discover"
)

// findBudget is how long `llmtop find` looks: longer than a screen may wait.
const findBudget = time.Second

// foundEngine is an engine that was found, as --json prints it. Names are kept.
type foundEngine struct {
	Engine    string   `json:"engine"`            // for people: "vLLM"
	Dialect   string   `json:"dialect,omitempty"` // whose metric names it speaks
	Address   string   `json:"address,omitempty"`
	Also      []string `json:"also,omitempty"` // other addresses of it
	PID       int      `json:"pid,omitempty"`
	User      string   `json:"user,omitempty"`
	Model     string   `json:"model,omitempty"`
	Container string   `json:"container,omitempty"`
	Readable  bool     `json:"readable"`
	Missing   string   `json:"missing,omitempty"`
	Next      string   `json:"next,omitempty"`
}

func newFindCommand() *cobra.Command {
	var reaching reachOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "find",
		Short:   "List the engines that serve on this host, and what keeps them from being read",
		Example: "  llmtop find\n  llmtop find --auth @key --json",
		Long: `Looks at what listens on this host, in its containers too as far as this user may, and
asks those that an engine may be behind. Nothing is asked of databases, of sshd and the
like, or of ports that nothing speaks for. llmtop without a URL attaches to the engines
that are readable.

The exit status is 0 when there is an engine that can be read, else 1.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := reaching.ready(cmd.ErrOrStderr()); err != nil {
				return err
			}
			r := look(cmd.Context(), reaching, findBudget)
			if err := printFound(cmd.OutOrStdout(), r, asJSON); err != nil {
				return failed(err, "")
			}
			if len(r.Attachable()) == 0 {
				return &exitError{code: exitDegraded, err: errors.New(noneFound(r)), hint: "name one: llmtop http://HOST:PORT"}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object with all engines")
	reaching.flags(cmd)
	return cmd
}

func noneFound(r discover.Report) string {
	if len(r.Engines) == 0 {
		return fmt.Sprintf("no engine found on this host (%d ports asked)", r.Asked)
	}
	return "no engine that can be read"
}

func printFound(out io.Writer, r discover.Report, asJSON bool) error {
	engines := foundEngines(r)
	if asJSON {
		return toJSON(out, map[string]any{"engines": engines, "asked": r.Asked})
	}
	if len(engines) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ENGINE\tADDRESS\tREADABLE\tPID\tUSER\tMODEL")
	for _, e := range engines {
		readable := "no"
		if e.Readable {
			readable = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", dash(e.Engine), dash(e.Address), readable, dash(number(e.PID)), dash(e.User), dash(e.Model))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, e := range engines {
		if err := printMore(out, e); err != nil {
			return err
		}
	}
	return nil
}

// foundEngines are the engines of a search, as llmtop find prints them.
func foundEngines(r discover.Report) []foundEngine {
	engines := []foundEngine{}
	for _, f := range r.Engines {
		engines = append(engines, foundEngine{Engine: f.Title, Dialect: f.Dialect, Address: f.Endpoint.String(), Also: f.Also, PID: f.PID,
			User: userName(f.UID), Model: f.Model, Container: f.Container, Readable: f.Metrics, Missing: f.Missing, Next: f.Next})
	}
	return engines
}

// printMore says below the table what is missing of an engine, and its other addresses.
func printMore(out io.Writer, e foundEngine) error {
	var lines []string
	if e.Missing != "" {
		lines = append(lines, e.Missing)
	}
	if e.Next != "" {
		lines = append(lines, "  → "+e.Next)
	}
	if len(e.Also) > 0 {
		lines = append(lines, fmt.Sprintf("%s is also %s", e.Address, strings.Join(e.Also, ", ")))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return oneLine(s)
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// userName is the name of a user, or its number.
func userName(uid int) string {
	if uid < 0 {
		return ""
	}
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return oneLine(u.Username)
	}
	return strconv.Itoa(uid)
}
