package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes"
	"llmtop/probes/canary"
)

// canaryFlag adds --canary to a command that attaches.
func (o *attachOptions) canaryFlag(cmd *cobra.Command) {
	cmd.Flags().Var((*canaryPace)(&o.canary), "canary",
		"send each engine a request of 8 tokens at this pace, 1s or more, and show what a client sees; the engine counts these requests too (user llmtop-canary)")
}

// canaries are the probes that --canary asks for, none without it.
func (o *attachOptions) canaries(t *target) []probes.Scheduled {
	if o.canary <= 0 {
		return nil
	}
	every := o.canary
	return []probes.Scheduled{{Every: every, Probe: canary.New(t.url, canary.Options{Pace: every, Access: t.access})}}
}

// The bounds of a pace.
const (
	densestCanary = time.Second
	rarestCanary  = 24 * time.Hour
)

// canaryPace is a flag that holds a time between two canaries; 0 is none.
type canaryPace time.Duration

func (p *canaryPace) Type() string { return "duration" }
func (p *canaryPace) String() string {
	if *p == 0 {
		return "0" // which help does not call a default
	}
	return time.Duration(*p).String()
}

func (p *canaryPace) Set(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return fmt.Errorf("is no time: give one such as 10s or 1m")
	case d != 0 && (d < densestCanary || d > rarestCanary):
		return fmt.Errorf("must be between 1s and 24h, or 0 for none")
	}
	*p = canaryPace(d)
	return nil
}
