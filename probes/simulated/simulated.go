// Package simulated reads what a simulated engine tells of its GPUs and its host: in flows the
// JSON of GET /debug/simulated, out flows a *Section with all of that, marked simulated. An
// engine that is not simulated has no such page; the probe says nothing then, and asks again
// rarely.
package simulated

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"llmtop/probes"
)

const (
	path     = "/debug/simulated"
	maxBytes = 4 << 20
	retry    = 30 * time.Second // after an answer that is none, from an engine that has never given one
)

// Options of a probe. Zero values mean the defaults.
type Options struct {
	Access    probes.Access     // credentials and trust in certificates
	Timeout   time.Duration     // whole fetch; default 2 s
	Transport http.RoundTripper // default: one kept-alive connection
}

// Probe asks an engine whether it is simulated and for what is. It is a probes.Probe.
type Probe struct {
	endpoint string
	fetch    *probes.Fetcher
	err      error     // the address was no good
	next     time.Time // not to be asked before

	skew time.Duration // how far the engine's clock is ahead of ours, where that matters

	told  atomic.Bool
	asked chan struct{} // closed after the first read
}

// New returns a probe for the endpoint, e.g. "http://127.0.0.1:8000".
func New(endpoint string, o Options) *Probe {
	e, err := probes.ParseEndpoint(endpoint)
	if err != nil {
		return &Probe{endpoint: probes.Printable(endpoint, 100), err: err, asked: make(chan struct{})}
	}
	return &Probe{endpoint: e.String(), asked: make(chan struct{}), fetch: probes.NewFetcher(e, path, probes.FetchOptions{
		Timeout: o.Timeout, MaxBytes: maxBytes, Access: o.Access, Transport: o.Transport, Accept: "application/json",
	})}
}

// Name is "simulated" and the endpoint.
func (p *Probe) Name() string { return "simulated " + p.endpoint }

// Simulated reports that the engine has said that it is. Safe for concurrent use.
func (p *Probe) Simulated() bool { return p.told.Load() }

// Asked is closed once the first read is over. Safe for concurrent use.
func (p *Probe) Asked() <-chan struct{} { return p.asked }

// Close gives the connection back.
func (p *Probe) Close() error {
	if p.fetch == nil {
		return nil
	}
	return p.fetch.Close()
}

// Read asks for what is simulated. Nothing and no error: nothing is, as far as the engine tells.
func (p *Probe) Read(ctx context.Context) (probes.Section, error) {
	defer p.answered()
	now := time.Now()
	if p.err != nil || now.Before(p.next) {
		return nil, nil // other probes say what is wrong with an address
	}
	section, err := p.read(ctx)
	switch {
	case err == nil:
		p.told.Store(true)
		return section, nil
	case errors.Is(err, errUnfit), unreachable(err) && p.told.Load():
		return nil, err
	case ctx.Err() != nil || unreachable(err):
		return nil, nil
	}
	p.next = now.Add(retry)
	if p.told.Swap(false) {
		return &Section{}, nil // another engine has taken its place
	}
	return nil, nil
}

func (p *Probe) answered() {
	select {
	case <-p.asked:
	default:
		close(p.asked)
	}
}

// read asks once.
func (p *Probe) read(ctx context.Context) (*Section, error) {
	page, err := p.fetch.Get(ctx, nil)
	if err != nil {
		return nil, err
	}
	s, err := decode(page)
	if err != nil {
		return nil, err
	}
	s.Endpoint = p.endpoint
	p.skew = s.onClock(p.skew, probes.Stamp(time.Now()))
	return s, nil
}

// unreachable reports an error of an engine that may not be up yet: it has not answered.
func unreachable(err error) bool {
	var status *probes.StatusError
	return !errors.As(err, &status) && !errors.Is(err, probes.ErrNotExposed) && !errors.Is(err, errNone)
}
