package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"llmtop/engine/twin"
	"llmtop/engine/twin/live"
)

// twinFlags say what engine is simulated.
type twinFlags struct {
	gpu    string // empty: none is
	model  string
	tp     int
	engine string
	seed   uint64
	turns  []string
}

// usualTwinModel is served where no other is named.
const usualTwinModel = "llama-3-70b"

// ownPage is the engine whose metrics are our own.
const ownPage = "llmtop"

func (f *twinFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.gpu, "twin", "", "simulate an engine on these `GPUs`, such as h100x8: real HTTP, modelled times, placeholder text")
	flags.StringVar(&f.model, "twin-model", usualTwinModel, "the simulated `model`, and how its weights are kept, such as \"llama-3-70b fp8\"")
	flags.IntVar(&f.tp, "twin-tp", 0, "tensor-parallel GPUs of the simulated engine (0: all)")
	flags.StringVar(&f.engine, "twin-engine", ownPage, "the `engine` whose metrics page the simulated one shows: "+strings.Join(twin.Personalities, ", "))
	flags.Uint64Var(&f.seed, "twin-seed", 1, "what nobody stated of the simulated host varies with the seed")
	flags.StringArrayVar(&f.turns, "twin-at", nil, "a `change` of the simulated host while it runs, such as \"60s gpu0 power_cap 400W\" (repeatable)")
}

// check refuses what says something of a twin without one.
func (f *twinFlags) check(cmd *cobra.Command) error {
	for _, name := range []string{"twin-model", "twin-tp", "twin-engine", "twin-seed", "twin-at"} {
		if f.gpu == "" && cmd.Flags().Changed(name) {
			return usage(fmt.Errorf("--%s without --twin", name), "say which GPUs: --twin h100x8")
		}
	}
	if strings.TrimSpace(f.gpu) == "" {
		if cmd.Flags().Changed("twin") {
			return usage(errors.New("--twin: which GPUs?"), "such as --twin h100x8; llmtop twin list gpus has those there are")
		}
		return nil
	}
	for _, name := range []string{"model", "kv-cache-dtype", "speculative", "draft-model", "num-speculative-tokens", "tokenizer-cache"} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
			return usage(fmt.Errorf("--%s and --twin exclude each other", name), "")
		}
	}
	return nil
}

// args are the flags for another process that is to simulate the same.
func (f *twinFlags) args() []string {
	list := []string{"--twin", f.gpu, "--twin-model", f.model, "--twin-tp", strconv.Itoa(f.tp), "--twin-engine", f.engine, "--twin-seed", strconv.FormatUint(f.seed, 10)}
	for _, t := range f.turns {
		list = append(list, "--twin-at", t)
	}
	return list
}

// statement is a line of a scenario and the flag that it is of.
type statement struct{ flag, text string }

// scenario is what the flags describe, read as a scenario file is. Requests come over HTTP;
// the one workload that stands there is that of nobody.
func (f *twinFlags) scenario(cmd *cobra.Command) (twin.Scenario, error) {
	list := []statement{{"--twin", "gpu " + f.gpu}, {"--twin-model", "model " + f.model}, {"", "replicas 1"},
		{"--twin-engine", "engine " + f.engine + twinSettings(cmd)}, {"--twin-seed", fmt.Sprint("seed ", f.seed)},
		{"", "workload chat rate=1"}, {"", "duration 744h"}, {"", "interval 1m"}}
	if f.tp != 0 {
		list = append(list, statement{"--twin-tp", "tp " + strconv.Itoa(f.tp)})
	}
	for _, t := range f.turns {
		list = append(list, statement{fmt.Sprintf("--twin-at %q", oneLine(t)), "at " + t})
	}
	const name = "flags"
	var text strings.Builder
	for _, s := range list {
		if strings.ContainsAny(s.text, "\n\r#") {
			return twin.Scenario{}, usage(fmt.Errorf("%s: must be one line without #", s.flag), "")
		}
		text.WriteString(s.text + "\n")
	}
	sc, err := twin.Parse(strings.NewReader(text.String()), name)
	if err != nil {
		return sc, usage(ofFlag(err, name, list), "llmtop twin list has what there is")
	}
	for _, e := range sc.Timeline {
		if err := live.Turnable(e.Change); err != nil {
			return sc, usage(fmt.Errorf("%s: %w", list[e.Line-1].flag, err), "llmtop twin run simulates whole scenarios")
		}
	}
	return sc, nil
}

// settingOf is what a flag of serve is called in scenarios.
var settingOf = [...]struct{ flag, setting string }{
	{"max-num-seqs", "max_num_seqs"}, {"max-num-batched-tokens", "token_budget"}, {"long-prefill-token-threshold", "prefill_chunk"},
	{"block-size", "block"}, {"num-blocks", "blocks"}, {"max-queue", "max_queue"}, {"kv-headroom", "headroom"}, {"min-share", "min_share"},
}

// twinSettings are the settings of serve that were given: else they are those of large GPUs.
func twinSettings(cmd *cobra.Command) (text string) {
	for _, s := range settingOf {
		flag := cmd.Flags().Lookup(s.flag)
		switch {
		case flag == nil || !flag.Changed:
		case s.flag == "max-queue" && flag.Value.String() == "-1":
			text += " max_queue=unlimited"
		default:
			text += " " + s.setting + "=" + flag.Value.String()
		}
	}
	return text
}

// ofFlag names the flag that an error about a line is of.
func ofFlag(err error, name string, list []statement) error {
	text := strings.TrimPrefix(err.Error(), name+":")
	line, rest, _ := strings.Cut(text, ":")
	n, bad := strconv.Atoi(line)
	if bad != nil || n < 1 || n > len(list) || list[n-1].flag == "" {
		return errors.New(strings.TrimSpace(text))
	}
	rest = strings.TrimSpace(rest)
	for _, s := range settingOf {
		if of, ok := strings.CutPrefix(strings.TrimPrefix(rest, "engine: "), s.setting); ok && of != "" && strings.ContainsRune(": ", rune(of[0])) {
			return fmt.Errorf("--%s%s", s.flag, of)
		}
	}
	word, _, _ := strings.Cut(list[n-1].text, " ")
	return fmt.Errorf("%s: %s", list[n-1].flag, strings.TrimPrefix(rest, word+": "))
}
