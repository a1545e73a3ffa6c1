// Package requests reads what an engine tells of single requests: in flows the
// JSON of GET /debug/requests, out flow *probes.Requests sections with the
// requests that finished since the read before and those in flight. Prompts and
// answers are no part of it.
package requests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"llmtop/probes"
)

// Bounds of one answer.
const (
	maxBytes   = 4 << 20
	pageSize   = 2000 // finished requests of an answer, about 600 bytes each
	maxPages   = 8    // of a read; the engine keeps the last 8192
	maxRunning = 256
	backoff    = 30 * time.Second // after "no such page"
)

// Options of a probe. Zero values mean the defaults.
type Options struct {
	Access    probes.Access     // credentials and trust in certificates
	Timeout   time.Duration     // whole fetch; default 2 s
	Transport http.RoundTripper // default: one kept-alive connection
	History   time.Duration     // the first read takes in what finished at most this long before; default nothing
}

// Probe asks an engine for its requests. It is a probes.Probe.
type Probe struct {
	endpoint string
	fetch    *probes.Fetcher
	o        Options
	err      error // the address was no good
	backoff  probes.Backoff

	started bool   // there was an answer, so cursor stands for something
	cursor  uint64 // the engine's next at the last answer
	known   int    // the pid of the engine that the cursor belongs to
	pid     atomic.Int64
}

// New returns a probe for the endpoint, e.g. "http://127.0.0.1:8000".
func New(endpoint string, o Options) *Probe {
	e, err := probes.ParseEndpoint(endpoint)
	if err != nil {
		return &Probe{endpoint: probes.Printable(endpoint, 100), err: err}
	}
	return &Probe{endpoint: e.String(), o: o, fetch: probes.NewFetcher(e, "/debug/requests", probes.FetchOptions{
		Timeout: o.Timeout, MaxBytes: maxBytes, Access: o.Access, Transport: o.Transport, Accept: "application/json",
	})}
}

// Name is "requests" and the endpoint.
func (p *Probe) Name() string { return "requests " + p.endpoint }

// PID is the engine's process id as it told it last, 0 before the first answer.
// It is meaningful on the engine's own host only. Safe for concurrent use.
func (p *Probe) PID() int { return int(p.pid.Load()) }

// Close gives the connection back.
func (p *Probe) Close() error {
	if p.fetch == nil {
		return nil
	}
	return p.fetch.Close()
}

// Read asks for what is new. An engine that does not have the page is asked
// again after 30 s only; until then the error is repeated.
func (p *Probe) Read(ctx context.Context) (probes.Section, error) {
	if p.err != nil {
		return nil, p.err
	}
	if err := p.backoff.Err(); err != nil {
		return nil, err
	}
	section, err := p.read(ctx)
	if err := p.backoff.Note(err, backoff); err != nil {
		return nil, err
	}
	return section, nil
}

// read asks page by page for all that is new.
func (p *Probe) read(ctx context.Context) (*probes.Requests, error) {
	a, err := p.ask(ctx, p.cursor, "")
	if err != nil {
		return nil, err
	}
	first := !p.started
	if !first && p.cursor > 0 && p.restarted(a) {
		// The new engine counts from 0; what it finished so far is all new to us.
		p.cursor = 0
		if a, err = p.ask(ctx, 0, ""); err != nil {
			return nil, err
		}
	}
	section := a.section(p.endpoint)
	for page := 1; page < maxPages && len(a.Finished) >= pageSize && a.Next > p.cursor; page++ {
		p.cursor = a.Next
		if a, err = p.ask(ctx, p.cursor, "finished"); err != nil {
			break // what came so far counts; the rest comes with the next read
		}
		section.add(a)
	}
	if err == nil {
		p.cursor = a.Next
	}
	p.started, p.known = true, p.PID()
	if first {
		section.Missed = 0 // finished before anyone looked
		section.Finished = recent(section.Finished, a.Now, p.o.History)
	}
	return section.Requests, nil
}

// restarted reports whether another engine answered than before.
func (p *Probe) restarted(a *answer) bool {
	return a.Next < p.cursor || p.known != 0 && a.PID != 0 && a.PID != p.known
}

// ask fetches and decodes one page of what finished after a cursor; state
// "finished" leaves the running ones out.
func (p *Probe) ask(ctx context.Context, cursor uint64, state string) (*answer, error) {
	query := url.Values{"after": {strconv.FormatUint(cursor, 10)}, "limit": {strconv.Itoa(pageSize)}}
	if state != "" {
		query.Set("state", state)
	}
	page, err := p.fetch.Get(ctx, query)
	if err != nil {
		if errors.Is(err, probes.ErrNotExposed) {
			return nil, probes.Lacking(fmt.Errorf("stage times of requests are not exposed by this engine: %w", err))
		}
		return nil, err
	}
	a, err := decode(page, time.Now())
	if err == nil {
		p.pid.Store(int64(a.PID))
	}
	return a, err
}

// recent keeps the requests that ended at most history before now, which is the
// engine's time as theirs is.
func recent(finished []*probes.Request, now time.Time, history time.Duration) []*probes.Request {
	if history <= 0 {
		return nil
	}
	var out []*probes.Request
	for _, r := range finished {
		if ended := r.Arrived.Add(time.Duration(total(&r.Stages) * float64(time.Second))); now.Sub(ended) <= history {
			out = append(out, r)
		}
	}
	return out
}
