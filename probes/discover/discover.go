// Package discover finds the LLM engines that serve on this host. In flow the sockets
// that accept connections with the processes behind them (package host reads them) and a
// function that recognises an engine's metrics page; out flow the engines that answered,
// with the address to read them at, and those that are there and cannot be read, with the
// reason in one line. What it asks for over HTTP is little, bounded, and only of ports that
// an engine may be behind: it never knocks at every door.
package discover

import (
	"context"
	"slices"
	"sync"
	"time"

	"llmtop/probes"
)

// Bounds of one search.
const (
	Budget     = 250 * time.Millisecond // default of Options.Budget
	maxTried   = 64                     // sockets asked, all at once
	maxEngines = 64
	maxPage    = 4 << 20 // bytes of an answer
)

// Options say how to search. Listeners and Recognise are needed.
type Options struct {
	// Listeners lists what accepts connections. It should end with ctx.
	Listeners func(ctx context.Context) []probes.Listener
	// Recognise says what a metrics page tells, nil for one that is no engine's.
	Recognise func(*probes.Page) *probes.Engine
	// Access is how an engine is reached. It is called for sockets whose process is an engine's.
	Access func(Found) probes.Access
	Spared *Spared       // what earlier searches must not do again; nil: there were none
	Budget time.Duration // for all of it, default Budget
}

// Found is an engine of this host. Text in it is printable.
type Found struct {
	Endpoint  probes.Endpoint // where it is read, its metrics page included
	Also      []string        // other addresses of the same engine
	Dialect   string          // as package dialect names it; "" when it is not known
	Title     string          // the engine's name for people: "vLLM"
	Model     string
	PID       int  // the process that listens, 0 when it is not to be seen
	UID       int  // to whom the socket belongs, -1 when that is not known
	ByCommand bool // its command line is an engine's
	Metrics   bool // it can be attached to: a metrics page was read, or is to be expected
	Starting  bool // it does not listen yet, as far as can be seen
	Missing   string
	Next      string // what to do about it
	Container string
	start     string // process start time that its page tells, for telling copies
}

// Why is what is missing, with the next step, in one line; "" for an engine that can be read.
func (f *Found) Why() string {
	if f.Next == "" {
		return f.Missing
	}
	return f.Missing + ": " + f.Next
}

// Report is what a search found: the engines that can be attached to first.
type Report struct {
	Engines []Found
	Asked   int  // sockets that were asked
	Partial bool // time was up before all processes were looked at or all sockets had answered
}

// Attachable are the engines that can be attached to.
func (r *Report) Attachable() []Found {
	for i := range r.Engines {
		if !r.Engines[i].Metrics {
			return r.Engines[:i]
		}
	}
	return r.Engines
}

// Starting reports an engine that may listen soon.
func (r *Report) Starting() bool {
	return slices.ContainsFunc(r.Engines, func(f Found) bool { return f.Starting })
}

// Unreadable are the engines that are there and cannot be read.
func (r *Report) Unreadable() []Found { return r.Engines[len(r.Attachable()):] }

// Find searches once. It returns within the budget, give or take what the machine is
// late, and leaves no connection behind.
func Find(ctx context.Context, o Options) Report {
	if o.Budget <= 0 {
		o.Budget = Budget
	}
	if o.Access == nil {
		o.Access = func(Found) probes.Access { return probes.Access{} }
	}
	ctx, cancel := context.WithTimeout(ctx, o.Budget)
	defer cancel()
	looking, stop := context.WithTimeout(ctx, o.Budget/2) // the other half is for asking
	list := o.Listeners(looking)
	partial := looking.Err() != nil
	stop()
	groups, unreachable := group(list)
	found := make([][]Found, len(groups))
	asked := 0
	var wait sync.WaitGroup
	for i, g := range groups {
		n := min(len(g.doors), maxTried-asked)
		asked += n
		g.doors = g.doors[:n]
		wait.Go(func() { found[i] = g.ask(ctx, o) })
	}
	wait.Wait()
	for _, f := range found {
		unreachable = append(unreachable, f...)
	}
	return Report{Engines: merge(unreachable), Asked: asked, Partial: partial || ctx.Err() != nil}
}
