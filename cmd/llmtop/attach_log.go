package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes"
	"llmtop/probes/enginelog"
)

const (
	logUse = "count known lines of the engine's log: a `FILE`, journal:UNIT, docker:ID, or auto to look for it (repeatable); see docs/logs.md"

	// maxLogs bounds how often --log is given: a file a rank of a big host is 16.
	maxLogs = 32
)

// logFlag adds --log to a command that attaches. What is wrong with a source is said before
// anything is attached to.
func (o *attachOptions) logFlag(cmd *cobra.Command) {
	cmd.Flags().Var((*logList)(&o.logs), "log", logUse)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if exit := (*exitError)(nil); errors.As(err, &exit) {
			return exit // without pflag's words around it
		}
		return err
	})
}

// logList is the value of --log, given any number of times; a source given twice counts once.
type logList []string

func (l *logList) String() string { return strings.Join(*l, " ") }
func (l *logList) Type() string   { return "log" }

func (l *logList) Set(text string) error {
	source, err := enginelog.ParseSource(text)
	switch {
	case err != nil:
		return usage(fmt.Errorf("--log: %w", err), "give the log's file, journal:UNIT (journal:kernel for the kernel), docker:ID, or auto")
	case len(*l) >= maxLogs:
		return usage(fmt.Errorf("--log: more than %d logs", maxLogs), "")
	case !slices.Contains(*l, source.String()):
		*l = append(*l, source.String())
	}
	return nil
}

// logProbes reads the logs. pid finds the engine's process.
func logProbes(logs []string, interval time.Duration, pid func() int) (list []probes.Scheduled) {
	for _, text := range logs {
		source, err := enginelog.ParseSource(text)
		if err != nil {
			continue // Set has refused it
		}
		list = append(list, probes.Scheduled{Probe: enginelog.New(source, enginelog.Options{Root: "/", PID: pid}), Every: interval})
	}
	return list
}
