// Package canary sends an engine a tiny request at a slow pace and tells how it fared,
// seen from the client: it yields *probes.Canary. The prompt is a fixed text; of the
// answer times and counts are kept, never text. The engine counts these requests as it
// counts any other; they bear the user "llmtop-canary" and X-Request-Id llmtop-canary-N.
//
// What the times mean beside the engine's own is left to package rules.
package canary

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"llmtop/probes"
)

const (
	leastTimeout = 30 * time.Second // of a canary; its pace when that is longer
	patience     = 3                // failures in a row until canaries become rarer [proposal]
	rarest       = 5 * time.Minute  // they become no rarer than this, or than their pace
)

// Options of a probe. Zero values mean the defaults.
type Options struct {
	Pace      time.Duration     // between canaries, as the caller reads; default 10 s
	Timeout   time.Duration     // of a canary; default 30 s, or the pace when that is longer
	Access    probes.Access     // credentials and trust in certificates
	Transport http.RoundTripper // default: a connection a canary
}

// Probe sends one canary a read. It is a probes.Probe; one goroutine uses it at a time,
// so that no two canaries are out at once.
type Probe struct {
	endpoint string
	address  probes.Endpoint
	o        Options
	err      error // the address was no good

	models *probes.Fetcher
	pages  map[string]*probes.Fetcher // by path
	api    int                        // index in apis of the one that answered last
	model  string                     // "": not told
	number uint32                     // of the last request

	sent, failed float64
	row          int       // failures in a row
	next         time.Time // not before
}

// New returns a probe for the endpoint, e.g. "http://127.0.0.1:8000".
func New(endpoint string, o Options) *Probe {
	if o.Pace <= 0 {
		o.Pace = 10 * time.Second
	}
	if o.Timeout <= 0 {
		o.Timeout = max(leastTimeout, o.Pace)
	}
	e, err := probes.ParseEndpoint(endpoint)
	if err != nil {
		return &Probe{endpoint: probes.Printable(endpoint, 100), err: err}
	}
	p := &Probe{endpoint: e.String(), address: e, o: o, pages: map[string]*probes.Fetcher{}}
	p.models = probes.NewFetcher(e, "/v1/models", p.fetchOptions(min(o.Timeout, 5*time.Second)))
	p.number = rand.Uint32() // two llmtops must not send the same ids: engines mix such requests up
	return p
}

func (p *Probe) fetchOptions(timeout time.Duration) probes.FetchOptions {
	return probes.FetchOptions{Timeout: timeout, MaxBytes: maxAnswer, Access: p.o.Access, Transport: p.o.Transport}
}

// Name is "canary" and the endpoint.
func (p *Probe) Name() string { return "canary " + p.endpoint }

// Close gives the connections back.
func (p *Probe) Close() error {
	if p.models == nil {
		return nil
	}
	for _, page := range p.pages {
		page.Close()
	}
	return p.models.Close()
}

// Read sends a canary and waits for the end of its answer. One that failed is a section
// with the reason in it; that is an error too unless the engine merely refused it (429,
// 503). After three failures in a row they become rarer, by halves down to one in 5
// minutes; a read between two of those sends nothing and repeats the error.
func (p *Probe) Read(ctx context.Context) (probes.Section, error) {
	if p.err != nil {
		return nil, p.err
	}
	began := time.Now()
	if wait := p.next.Sub(began); wait > p.o.Pace/2 { // reads come on a grid, a little early or late
		return nil, fmt.Errorf("%d canaries in a row failed: the next one goes in %s", p.row, wait.Round(time.Second))
	}
	within, cancel := context.WithTimeout(ctx, p.o.Timeout)
	defer cancel()
	out := p.send(within)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	p.note(began, out.err)
	section := out.section()
	section.Endpoint = p.endpoint
	section.Sent, section.Failed = probes.Some(p.sent), probes.Some(p.failed)
	if out.refused() {
		return section, nil
	}
	return section, out.err
}

// note counts a canary and plans the next one.
func (p *Probe) note(began time.Time, err error) {
	p.sent++
	if err == nil {
		p.row, p.next = 0, time.Time{}
		return
	}
	p.failed++
	p.row++
	if p.row < patience {
		return
	}
	wait := p.o.Pace
	for range min(p.row-patience+1, 16) {
		wait *= 2
	}
	p.next = began.Add(max(min(wait, rarest), p.o.Pace))
}
