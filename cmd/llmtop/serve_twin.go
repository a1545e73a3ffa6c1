package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"llmtop/cmd/llmtop/internal/child"
	"llmtop/engine"
	"llmtop/engine/twin"
	"llmtop/engine/twin/exposition"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/live"
)

// twinAnswers is how long answers are that end by themselves: as those of chats (Azure's and
// LMSYS's traces have medians of 100 to 250 tokens and a long tail).
var twinAnswers = live.Lengths{Median: 180, Sigma: 0.8}

// mostTokenizing is no bound of a simulated engine's tokenizer: how many threads it has is the twin's to say.
const mostTokenizing = 1024

// twinBody bounds a request to a simulated engine: prompts may be as long as large models take them.
const twinBody = 16 << 20

// runTwin serves a simulated engine until ctx ends.
func runTwin(ctx context.Context, cmd *cobra.Command, o serveOptions, end func()) error {
	sc, err := o.twin.scenario(cmd)
	if err != nil {
		return err
	}
	listener, err := listenOn(cmd, o.addr, o.engine.APIKey != "")
	if err != nil {
		return err
	}
	defer listener.Close()
	t, err := simulate(sc, "http://"+listener.Addr().String(), &o.engine)
	if err != nil {
		return usage(err, "")
	}
	e, err := newEngine(cmd, o.engine)
	if err != nil {
		return err
	}
	t.Serve(e)
	lives, dies := context.WithCancel(context.WithoutCancel(ctx))
	defer dies()
	go t.Live(lives)
	if o.withParent {
		child.Parent(os.Stdin, turnLine(t), end)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "serving %s, simulated, on http://%s (ctrl-c ends it)\n", t.Title(), listener.Addr())
	fmt.Fprintf(cmd.OutOrStdout(), "KV cache %d tokens, %d sequences and %d tokens in a step; answers are placeholder text\n",
		o.engine.NumBlocks*o.engine.BlockSize, o.engine.MaxNumSeqs, o.engine.MaxBatchedTokens)
	err = serveUntil(ctx, e, t.Handler(e.Handler()), listener, o.drain, cmd.OutOrStdout())
	if lost := t.Lost(); lost >= time.Second {
		fmt.Fprintf(cmd.ErrOrStderr(), "llmtop: warning: this machine was too busy: steps took %s more than modelled\n", lost.Round(time.Second))
	}
	return err
}

// turnLine takes the demo's line "turn CHANGE", a change of a knob as scenarios write it.
func turnLine(t *live.Twin) func(string) {
	return func(line string) {
		text, ok := strings.CutPrefix(line, "turn ")
		if c, err := knob.ParseChange(text); ok && err == nil && live.Turnable(c) == nil {
			_ = t.Turn(c) // the demo turns what there is
		}
	}
}

// simulate makes the twin that a scenario describes, at an address, and configures the engine
// that it is the model of.
func simulate(sc twin.Scenario, url string, c *engine.Config) (*live.Twin, error) {
	sc.Start, sc.Warm = time.Now(), time.Second
	plant, err := twin.NewPlant(sc, url)
	if err != nil {
		return nil, err
	}
	blocks := plant.Blocks
	lc := live.Config{
		Title: fmt.Sprintf("%s on %d × %s", sc.Model.Name, sc.GPUs, sc.GPU.Name), Cost: plant.Models[0], Board: plant.Board, Timeline: sc.Timeline,
		Ranks: sc.TP * sc.PP, Context: sc.Model.Context, Memory: plant.Memory.Budget, Front: plant.Front.Front,
		Answers: twinAnswers, Seed: sc.Seed, Fleet: plant.Fleet, Host: plant.Host,
	}
	if sc.Personality != ownPage {
		lc.Page = func(started time.Time) (exposition.Page, error) {
			return exposition.New(sc.Personality, exposition.Info{
				Model: sc.Model.Name, BlockSize: sc.BlockSize, Blocks: blocks, MaxNumSeqs: sc.Limits.MaxNumSeqs, TokenBudget: sc.Limits.MaxBatchedTokens,
				Ranks: sc.TP * sc.PP, PrefixCache: !c.NoPrefixCaching, Started: started,
			})
		}
	}
	t, err := live.New(lc)
	if err != nil {
		return nil, err
	}
	configureTwin(c, sc, blocks)
	t.Configure(c)
	return t, nil
}

// configureTwin sets the limits of the scenario in the engine's own terms.
func configureTwin(c *engine.Config, sc twin.Scenario, blocks int) {
	l := sc.Limits
	c.ModelName, c.ModelPath, c.MemoryBytes, c.MaxBodyBytes, c.TokenizerThreads = sc.Model.Name, "", 0, twinBody, mostTokenizing
	c.MaxNumSeqs, c.MaxBatchedTokens, c.LongPrefillTokenThreshold = l.MaxNumSeqs, l.MaxBatchedTokens, l.LongPrefillTokenThreshold
	c.BlockSize, c.NumBlocks, c.MaxQueue = sc.BlockSize, blocks, sc.MaxQueue
	c.KVHeadroom, c.MinShare = orNone(l.Headroom), orNone(l.MinShare)
}

// orNone is a share as the engine's configuration has it: 0 there is its default.
func orNone(share float64) float64 {
	if share == 0 {
		return engine.None
	}
	return share
}
