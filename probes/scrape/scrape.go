// Package scrape reads an engine's metrics page: in flows the Prometheus text
// exposition over HTTP, out flow *probes.Scrape sections that hold every series,
// raw and cumulative. What the names mean is left to package dialect.
package scrape

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"llmtop/probes"
)

// Options of a probe. Zero values mean the defaults.
type Options struct {
	Path      string            // of the page below the endpoint; default the endpoint's, else it is looked for
	Page      func() string     // not nil: the path of the page as it is known now, "" while it is not
	Sleepers  bool              // a server that nobody knows yet is asked whether it sleeps before its metrics are
	Access    probes.Access     // credentials and trust in certificates
	Timeout   time.Duration     // whole fetch; default 2 s
	MaxBytes  int64             // of a page; default 16 MiB
	MaxSeries int               // of a page; default 20000
	Transport http.RoundTripper // default: one kept-alive connection
}

// Probe fetches one metrics page. It is a probes.Probe.
type Probe struct {
	endpoint string
	fetch    *probes.Fetcher
	pages    pages
	page     func() string // nil: nobody tells
	parser   *Parser
	pause    pause
	err      error // the address was no good

	at    probes.Endpoint
	more  probes.FetchOptions // for the pages beside the metrics
	seen  *probes.Schema      // the last page's shape
	llama *llamacpp           // nil: the server is none, as far as is known
	awake bool                // the server was not asleep, or is none that sleeps
}

// New returns a probe for the endpoint, e.g. "http://127.0.0.1:8000". An address
// that cannot be used is reported by each Read.
func New(endpoint string, o Options) *Probe {
	e, err := probes.ParseEndpoint(endpoint)
	if err != nil {
		return &Probe{endpoint: probes.Printable(endpoint, 100), err: err}
	}
	search := o.Path == "" && !e.PageKnown()
	if o.Path == "" {
		o.Path = e.Page()
	}
	return &Probe{
		awake: !o.Sleepers, at: e, more: probes.FetchOptions{Timeout: o.Timeout, Access: o.Access, Transport: o.Transport},
		pages:    newPages(search),
		page:     o.Page,
		endpoint: e.String(),
		parser:   NewParser(o.MaxSeries),
		fetch: probes.NewFetcher(e, o.Path, probes.FetchOptions{
			Timeout: o.Timeout, MaxBytes: o.MaxBytes, Access: o.Access, Transport: o.Transport,
			Accept: "text/plain;version=0.0.4;q=1,*/*;q=0.1",
		}),
	}
}

// Name is "scrape" and the endpoint.
func (p *Probe) Name() string { return "scrape " + p.endpoint }

// Read fetches and parses the page. A page with more series than the limit
// yields its first ones and an error. After an answer that was of no use, and took
// long, the server is left alone for a while, and the error said again.
func (p *Probe) Read(ctx context.Context) (probes.Section, error) {
	if p.err != nil {
		return nil, p.err
	}
	if p.page != nil {
		p.pages.known(p.fetch, p.page())
	}
	began := time.Now()
	if err := p.pause.running(began); err != nil {
		return nil, err
	}
	s, err := p.read(ctx, began)
	if s == nil || !p.parser.ending.cut { // the next page may well be whole
		p.pause.note(err, began, time.Now())
	}
	if s == nil {
		return nil, err
	}
	return s, err
}

func (p *Probe) read(ctx context.Context, began time.Time) (*probes.Scrape, error) {
	if p.llama != nil {
		return p.readLlamaCPP(ctx, began)
	}
	if err := p.firstLook(ctx); err != nil {
		return nil, err
	}
	s, err := p.readPage(ctx, began)
	if s != nil && s.Schema != p.seen { // a page of a known shape is whose it was
		if p.seen = s.Schema; isLlamaCPP(s) {
			p.llama = newLlamaCPP(p.at, p.more)
		}
	}
	return s, err
}

func (p *Probe) readPage(ctx context.Context, began time.Time) (*probes.Scrape, error) {
	page, err := p.pages.get(ctx, p.fetch)
	if err != nil {
		return nil, err
	}
	at := time.Now()
	s, err := p.parser.page(page)
	if s != nil {
		s.At, s.Endpoint, s.Seconds = probes.Stamp(at), p.endpoint, probes.Seconds(time.Since(began))
	}
	return s, err
}

// Close gives the connection back.
func (p *Probe) Close() error {
	if p.fetch == nil {
		return nil
	}
	if p.llama != nil {
		p.llama.Close()
	}
	return p.fetch.Close()
}

// page parses a fetched page, or says what it is instead.
func (p *Parser) page(page *probes.Page) (*probes.Scrape, error) {
	page.Body = unquoted(page.Body)
	what := probes.Describe("", page.Body) // what a server calls its page says little
	if what == "HTML" || what == "binary data" {
		return nil, fmt.Errorf("%s: found %s, not Prometheus metrics", page.URL, what)
	}
	s, more := p.Parse(page.Body)
	switch {
	case len(s.Values) == 0 && what == "an empty page":
		return nil, fmt.Errorf("%s: found an empty page: the engine exposes no metrics", page.URL)
	case len(s.Values) == 0:
		if !bytes.ContainsRune(page.Body, '#') || s.Dropped > 0 {
			return nil, fmt.Errorf("%s: found %s, not Prometheus metrics", page.URL, what)
		}
		return nil, fmt.Errorf("%s: found a metrics page without any series yet", page.URL)
	case p.ending.cut:
		return s, fmt.Errorf("%s: the page breaks off in the middle of a line, after %d series", page.URL, len(s.Values))
	case more > 0:
		return s, fmt.Errorf("%s: %d series beyond the limit of %d left out", page.URL, more, len(s.Values))
	}
	return s, nil
}
