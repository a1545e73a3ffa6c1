// Package cpuprofile takes CPU profiles from engines that serve Go's
// /debug/pprof: out flow *probes.Profile sections with the profile as it came.
// What its frames mean is left to package frames.
package cpuprofile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"llmtop/probes"
)

const (
	maxBytes = 8 << 20
	slack    = 5 * time.Second  // for the answer beyond the sampling time
	backoff  = 60 * time.Second // after "no such page"
)

// Options of a probe. Zero values mean the defaults.
type Options struct {
	Access    probes.Access     // credentials and trust in certificates
	Transport http.RoundTripper // default: one kept-alive connection
}

// Probe takes one profile a read; a read lasts as long as the engine samples.
// It is a probes.Probe.
type Probe struct {
	endpoint string
	seconds  int
	fetch    *probes.Fetcher
	err      error // the address was no good
	backoff  probes.Backoff
}

// New returns a probe that lets the endpoint sample for so many seconds (1 to
// 60) a read. Go's profiler interrupts each running thread 100 times a second
// of CPU time.
func New(endpoint string, seconds int) *Probe { return NewWith(endpoint, seconds, Options{}) }

// NewWith is New with options.
func NewWith(endpoint string, seconds int, o Options) *Probe {
	seconds = min(max(seconds, 1), 60)
	e, err := probes.ParseEndpoint(endpoint)
	if err != nil {
		return &Probe{endpoint: probes.Printable(endpoint, 100), err: err}
	}
	return &Probe{endpoint: e.String(), seconds: seconds, fetch: probes.NewFetcher(e, "/debug/pprof/profile", probes.FetchOptions{
		Timeout:  time.Duration(seconds)*time.Second + slack,
		MaxBytes: maxBytes, Access: o.Access, Transport: o.Transport,
	})}
}

// ErrBusy: somebody else takes a profile just now, another llmtop perhaps.
var ErrBusy = errors.New("another CPU profile of this engine is being taken; it allows one at a time")

// Name is "profile" and the endpoint.
func (p *Probe) Name() string { return "profile " + p.endpoint }

// Close gives the connection back.
func (p *Probe) Close() error {
	if p.fetch == nil {
		return nil
	}
	return p.fetch.Close()
}

// Read takes a profile. An engine that serves none is asked again after a
// minute only; until then the error is repeated.
func (p *Probe) Read(ctx context.Context) (probes.Section, error) {
	if p.err != nil {
		return nil, p.err
	}
	if err := p.backoff.Err(); err != nil {
		return nil, err
	}
	page, err := p.fetch.Get(ctx, url.Values{"seconds": {strconv.Itoa(p.seconds)}})
	if err != nil && strings.Contains(err.Error(), "already in use") { // net/http/pprof: one profile at a time
		err = ErrBusy
	}
	if errors.Is(err, probes.ErrNotExposed) {
		err = probes.Lacking(fmt.Errorf("CPU profiles are not exposed by this engine: %w", err))
	}
	if err := p.backoff.Note(err, backoff); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(page.Body, []byte{0x1f, 0x8b}) {
		return nil, fmt.Errorf("%s: found %s, not a CPU profile", page.URL, probes.Describe(page.ContentType, page.Body))
	}
	return &probes.Profile{
		At: probes.Stamp(time.Now()), Endpoint: p.endpoint, Seconds: float64(p.seconds), Raw: bytes.Clone(page.Body),
	}, nil
}
