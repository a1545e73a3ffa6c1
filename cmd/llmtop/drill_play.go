package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/drill"
)

type drillPlayOptions struct {
	from     instanceFlags
	surprise bool
}

func newDrillPlayCommand() *cobra.Command {
	var o drillPlayOptions
	cmd := &cobra.Command{
		Use:   "play ID|FILE.yaml | --surprise",
		Short: "A game day: name the cause yourself",
		Long: `Runs a drill, then shows what llmtop would have shown, in real time from a few seconds before
the fault begins, with the verdict, the causes and the findings hidden. Look around as long as
you like; q ends the screen, and you are asked for the cause. Then comes what you scored, what
happened, what llmtop said and when, and its evidence. With --surprise the drill is drawn.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usage(fmt.Errorf("%d arguments given, one at most", len(args)), "name a drill, or --surprise")
			case (len(args) == 1) == o.surprise:
				return usage(errors.New("which drill? name one, or have it drawn with --surprise"), "llmtop drill list has all")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := noTerminal(); err != nil {
				return usage(err, "a drill is played on a terminal; llmtop drill run makes a recording of one")
			}
			if o.from.seed == 0 {
				o.from.seed = 1 + rand.Uint64N(playSeeds)
			}
			var chosen *drill.Drill
			if !o.surprise {
				var err error
				if chosen, err = readDrill(args[0]); err != nil {
					return err
				}
			}
			return playDrill(cmd, o, chosen)
		},
	}
	o.from.add(cmd)
	cmd.Flags().BoolVar(&o.surprise, "surprise", false, "draw the drill, and do not say which")
	cmd.Flags().Uint64Var(&o.from.seed, "seed", 0, "the same seed, the same game (0: random)")
	return cmd
}

// playSeeds are the seeds that games are played with: those of the train suite's deployments.
const playSeeds = 100

// draws is how many drills are tried until one counts.
const draws = 6

// game is a drill that was run and is to be guessed.
type game struct {
	drill *drill.Drill
	truth drill.Truth
	path  string // the recording
	begin time.Time
}

func playDrill(cmd *cobra.Command, o drillPlayOptions, chosen *drill.Drill) error {
	dir, err := os.MkdirTemp("", "llmtop-")
	if err != nil {
		return failed(err, "")
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(cmd.ErrOrStderr(), map[bool]string{
		false: "preparing the drill …", true: "preparing the drill: it runs on this machine in real time, that takes minutes …",
	}[o.from.engine == "cpu"])
	g, err := prepareGame(cmd.Context(), o, chosen, dir)
	if err != nil {
		return interruption(err, "")
	}
	took, err := showHidden(cmd.Context(), g)
	if err != nil {
		return interruption(err, "")
	}
	ids, err := answers()
	if err != nil {
		return failed(err, "")
	}
	answer, err := askCause(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), ids)
	if err != nil {
		return interruption(err, "")
	}
	return reviewGame(cmd, g, answer, took)
}

// prepareGame runs the drill that was chosen, or one that is drawn, until a run counts.
func prepareGame(ctx context.Context, o drillPlayOptions, chosen *drill.Drill, dir string) (*game, error) {
	draw := rand.New(rand.NewPCG(o.from.seed, 0x6a3e)) // a word of its own
	var last string
	for try := range draws {
		flags := o.from
		flags.seed = 1 + (o.from.seed-1+uint64(try)*17)%max(playSeeds, o.from.seed)
		d := chosen
		if d == nil {
			var err error
			if d, err = drawDrill(draw, &flags); err != nil {
				return nil, err
			}
		}
		inst, err := flags.instance(d)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.llmrec", try+1))
		t, err := runOne(ctx, inst, path)
		switch {
		case err != nil:
			return nil, err
		case t.Counts():
			lead := 15*time.Second + time.Duration(draw.Int64N(int64(15*time.Second)))
			return &game{drill: d, truth: t, path: path, begin: t.Onset.Add(-lead)}, nil
		}
		os.Remove(path)
		last = t.Discard
	}
	if chosen == nil {
		last = "what was drawn did not become strong enough"
	}
	return nil, failed(fmt.Errorf("no run in %d counts: %s", draws, cmp.Or(last, "unknown")), "try another --seed or --severity")
}

// drawDrill picks a drill with a cause to be named, and how severe it is unless that is stated.
func drawDrill(draw *rand.Rand, f *instanceFlags) (*drill.Drill, error) {
	all, err := drill.All()
	if err != nil {
		return nil, err
	}
	type choice struct {
		drill    *drill.Drill
		severity drill.Severity
	}
	var can []choice
	for _, d := range all {
		if d.Kind != drill.Fault && d.Kind != drill.Limit && d.Kind != drill.Compound {
			continue
		}
		severities := d.On(f.engine)
		var fit []choice
		for _, s := range severities {
			one := *f
			one.severity = string(s)
			if _, err := one.instance(d); err == nil && (f.severity == "" || f.severity == string(s)) {
				fit = append(fit, choice{d, s})
			}
		}
		if len(fit) > 0 { // each drill with the same chance
			can = append(can, fit[draw.IntN(len(fit))])
		}
	}
	if len(can) == 0 {
		return nil, usage(errors.New("no drill is like that"), "llmtop drill list has all")
	}
	c := can[draw.IntN(len(can))]
	f.severity = string(c.severity)
	return c.drill, nil
}
