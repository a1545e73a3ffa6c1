// Package engineconfig reads how an engine is set up: its version, what its own pages
// tell of its limits, and the flags it was started with. It yields *probes.EngineConfig
// under canonical names (probes.FactNames). What each engine calls its settings is a
// table in a file of its own; only what stands in a table is ever taken, so that keys,
// templates and paths that the same pages hold do not leave the package.
//
// Settings that the engine tells as metrics are left to package dialect.
package engineconfig

import (
	"context"
	"errors"
	"net/http"
	"time"

	"llmtop/probes"
)

const (
	every    = time.Minute      // between two readings of the pages
	retry    = 5 * time.Second  // after one that failed
	absent   = 10 * time.Minute // how long a page that is not there is not asked for
	maxBytes = 1 << 20          // of a page
)

// Options of a probe. Zero values mean the defaults; every function may be nil, may be
// called at each read, and must not wait.
type Options struct {
	Access    probes.Access     // credentials and trust in certificates
	Timeout   time.Duration     // of a page; default 2 s
	Transport http.RoundTripper // default: a connection a reading

	PID      func() int                      // the listening process, 0 when it is not known
	Argv     func(pid int) ([]string, error) // its command line
	Ranks    func(pid int) []probes.Rank     // the engine's processes
	Dialect  func() string                   // as its metrics tell, "" when they do not
	Restarts func() int64                    // how often the engine was seen to restart
}

// Probe reads the configuration of one engine. It is a probes.Probe; it may be read at
// each tick, asks once a minute and at once after a restart, and gives the same section
// meanwhile.
type Probe struct {
	endpoint string
	address  probes.Endpoint
	o        Options
	err      error // the address was no good

	missing  map[string]*probes.Backoff // pages, by path
	section  *probes.EngineConfig
	last     error
	next     time.Time
	pid      int
	restarts int64
}

// New returns a probe for the endpoint, e.g. "http://127.0.0.1:8000".
func New(endpoint string, o Options) *Probe {
	e, err := probes.ParseEndpoint(endpoint)
	if err != nil {
		return &Probe{endpoint: probes.Printable(endpoint, 100), err: err}
	}
	return &Probe{endpoint: e.String(), address: e, o: o, missing: map[string]*probes.Backoff{}}
}

// Name is "config" and the endpoint.
func (p *Probe) Name() string { return "config " + p.endpoint }

// Read returns the configuration as it was read last. An engine that does not answer
// leaves that standing, beside the error.
func (p *Probe) Read(ctx context.Context) (probes.Section, error) {
	if p.err != nil {
		return nil, p.err
	}
	if now := time.Now(); p.restarted() || !now.Before(p.next) {
		section, err := p.read(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p.last, p.next = err, now.Add(every)
		if err != nil {
			p.next = now.Add(retry)
		}
		if section != nil {
			p.section = section
		}
	}
	if p.section == nil {
		return nil, p.last
	}
	return p.section, p.last
}

// restarted notices another process or a restart that others saw; pages that were not
// there may be now.
func (p *Probe) restarted() bool {
	pid, restarts := p.pid, p.restarts
	if p.o.PID != nil {
		if now := p.o.PID(); now > 0 {
			pid = now
		}
	}
	if p.o.Restarts != nil {
		restarts = p.o.Restarts()
	}
	if pid == p.pid && restarts == p.restarts {
		return false
	}
	p.pid, p.restarts = pid, restarts
	clear(p.missing)
	return true
}

// errSilent is the error of an engine that tells nothing that is known here.
var errSilent = probes.Lacking(errors.New("this engine tells nothing of its configuration"))

// read asks for all there is. A page that fails, or that wants a key, leaves its facts
// out and is no error beside others that answer; with an engine that does not answer at
// all there is no section.
func (p *Probe) read(ctx context.Context) (*probes.EngineConfig, error) {
	r := reading{facts: map[string]probes.Fact{}}
	argv := p.argv()
	started := engineOf(argv)
	if r.engine = started; started == nil && p.o.Dialect != nil {
		r.engine = engineNamed(p.o.Dialect())
	}
	if err := p.pages(ctx, &r); err != nil {
		return nil, err
	}
	if started != nil { // what another program does with such flags is not known
		r.flags(argv)
	}
	if len(r.facts) == 0 && r.version == "" {
		if r.problem != nil {
			return nil, r.problem
		}
		return nil, errSilent
	}
	c := &probes.EngineConfig{At: probes.Stamp(time.Now()), Endpoint: p.endpoint, Version: r.version, PID: p.pid, Facts: r.sorted()}
	if r.engine != nil {
		c.Dialect = r.engine.dialect
	}
	if p.o.Ranks != nil && p.pid > 0 {
		c.Ranks = p.o.Ranks(p.pid)
	}
	return c, nil
}

// argv is the command line of the listening process, nil when it cannot be read.
func (p *Probe) argv() []string {
	if p.o.Argv == nil || p.pid <= 0 {
		return nil
	}
	argv, err := p.o.Argv(p.pid)
	if err != nil {
		return nil // another user's process: the pages tell what they tell
	}
	return argv[:min(len(argv), maxArgs)]
}
