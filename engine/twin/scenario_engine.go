package twin

import (
	"fmt"
	"strings"

	"llmtop/engine"
	"llmtop/engine/twin/knob"
)

// setting is an option of the statement engine.
type setting struct {
	name  string
	takes string
	doc   string
	set   func(p *parser, v string) error
}

var settings = []setting{
	{"max_num_seqs", "1 to 65536", "sequences in a step (256)", func(p *parser, v string) error { return count(&p.Limits.MaxNumSeqs, v, 1, 65536) }},
	{"token_budget", "1 to 1048576", "tokens in a step (8192)", func(p *parser, v string) error { return count(&p.Limits.MaxBatchedTokens, v, 1, 1<<20) }},
	{"prefill_chunk", "0 to 1048576", "most tokens of one prompt in a step; 0: no bound of its own (0)", func(p *parser, v string) error {
		return count(&p.Limits.LongPrefillTokenThreshold, v, 0, 1<<20)
	}},
	{"drafts", "0 to 16", "tokens that are guessed in a step (0)", func(p *parser, v string) error { return count(&p.Limits.Drafts, v, 0, 16) }},
	{"headroom", "0 to 0.9", "share of the blocks that stays free when a sequence is admitted (0)", func(p *parser, v string) error { return number(&p.Limits.Headroom, v, 0, 0.9) }},
	{"min_share", "0 to 0.3", "share of places and blocks that each lower class keeps (0)", func(p *parser, v string) error { return number(&p.Limits.MinShare, v, 0, 0.3) }},
	{"block", "1 to 1024", "tokens of a block of the KV cache (16)", func(p *parser, v string) error { return count(&p.BlockSize, v, 1, 1024) }},
	{"blocks", "16 to 10000000", "blocks of the KV cache of a replica (what the memory leaves)", func(p *parser, v string) error { return count(&p.Blocks, v, 16, 10_000_000) }},
	{"max_queue", "0 to 1000000, unlimited", "requests of a class that may wait, more are refused (4096)", func(p *parser, v string) error {
		if v == "unlimited" {
			p.MaxQueue = engine.Unlimited
			return nil
		}
		return count(&p.MaxQueue, v, 0, 1_000_000)
	}},
	{"max_model_len", "2 to 2000000", "tokens of a prompt with its answer (the model's context)", func(p *parser, v string) error { return count(&p.Workload.Context, v, 2, 2_000_000) }},
	{"utilization", "0.1 to 0.99", "share of a GPU's memory that it may take (0.9)", func(p *parser, v string) error { return number(&p.Utilization, v, 0.1, 0.99) }},
	{"prefix_caching", "on, off", "blocks are found again by what they hold (on)", func(p *parser, v string) error {
		if v != "on" && v != "off" {
			return fmt.Errorf("must be on or off, not %.40q", v)
		}
		p.NoPrefix = v == "off"
		return nil
	}},
	{"lora_slots", "0 to 10000", "LoRA adapters on the GPU at once (4)", func(p *parser, v string) error { return count(&p.Slots, v, 0, 10_000) }},
}

// Setting is an option of the statement engine, for documents.
type Setting struct{ Name, Takes, Doc string }

// Settings are all there are.
func Settings() []Setting {
	all := make([]Setting, len(settings))
	for i, s := range settings {
		all[i] = Setting{s.name, s.takes, s.doc}
	}
	return all
}

// settings reads "vllm max_num_seqs=256 block=16".
func (p *parser) settings(rest string) error {
	words := strings.Fields(rest)
	if !strings.Contains(words[0], "=") {
		if err := choice(&p.Personality, "engine", words[0], Personalities); err != nil {
			return err
		}
		words = words[1:]
	}
	return named(words, p.setting)
}

func (p *parser) setting(name, value string) error {
	names := make([]string, len(settings))
	for i, s := range settings {
		if names[i] = s.name; s.name == name {
			if err := s.set(p, value); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
	}
	return knob.Unknown("option of engine", name, names)
}
