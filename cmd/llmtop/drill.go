package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/drill"
)

func newDrillCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drill",
		Short: "Make incidents whose cause is known, and score the diagnosis",
		Long: `A drill is an incident on demand: a fault, how strong it is to be, what it must be called and
what proves that it happened (docs/drills.md). It runs on the twin, in virtual time, or on
llmtop's own engine on this machine, and leaves a recording that does not tell what was done.
Many of them give the score of the diagnosis; one, with the verdict hidden, is a game day.`,
		Example: `  llmtop drill list                                what can be drilled
  llmtop drill run power-cap -o incident.llmrec    one of them, and what was done
  llmtop drill play --surprise                     name the cause yourself
  llmtop drill score --suite ci                    how good the diagnosis is, in minutes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage(errors.New("what of drills? give one of its commands"), "llmtop drill --help lists them")
		},
	}
	cmd.AddCommand(newDrillListCommand(), newDrillRunCommand(), newDrillPlayCommand(), newDrillScoreCommand(), newDrillJudgeCommand(), newDrillFitTreeCommand())
	return cmd
}

// instanceFlags say which run of a drill is wanted.
type instanceFlags struct {
	engine, severity, world string
	seed                    uint64
}

func (f *instanceFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.engine, "engine", "twin", "twin: simulated, in virtual time; cpu: llmtop's own engine on this machine, in real time")
	cmd.Flags().StringVar(&f.severity, "severity", "", "mild, medium or severe (medium, or what the drill can be)")
	cmd.Flags().StringVar(&f.world, "world", "", "`name` of the simulated deployment (the one that the seed picks)")
}

// instance is the run that is asked for.
func (f *instanceFlags) instance(d *drill.Drill) (drill.Instance, error) {
	i, err := drill.One(d, f.engine, drill.Severity(f.severity), f.seed, f.world)
	return i, asUsage(err)
}

// asUsage is a usage error, or nil.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usage(err, "")
}

// readDrill is the drill of an id, or that in a file of one's own.
func readDrill(name string) (*drill.Drill, error) {
	if !strings.HasSuffix(name, ".yaml") && !strings.ContainsRune(name, filepath.Separator) {
		d, err := drill.Lookup(name)
		if err != nil {
			return nil, usage(err, "llmtop drill list has all; a file of your own ends in .yaml")
		}
		return d, nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failed(fmt.Errorf("%s: no such file", name), "")
	case err != nil:
		return nil, failed(fmt.Errorf("opening %s: %w", name, errors.Unwrap(err)), "")
	case !info.Mode().IsRegular():
		return nil, failed(fmt.Errorf("%s is no file", name), "")
	case info.Size() > 1<<20:
		return nil, usage(fmt.Errorf("%s is too large for a drill: %d bytes", name, info.Size()), "")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, failed(err, "")
	}
	d, err := drill.ParseDrill(name, text)
	if err != nil {
		return nil, usage(err, "docs/drills.md says what a drill file holds")
	}
	return d, nil
}
