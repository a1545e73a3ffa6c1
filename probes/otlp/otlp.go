// Package otlp receives the traces that serving engines send (OTLP, over HTTP and
// over gRPC on one port) and turns them into request stages: in flow exports of
// spans, out flow *probes.Requests sections with the requests whose spans came since
// the previous read. Each engine names its spans and attributes in a way of its own:
// vllm.go, sglang.go, tgi.go and dynamo.go hold one table each; assembler.go, trace.go
// and settle.go gather the spans of a request, timeline.go cuts its time into stages.
//
// Of a span only the attributes in the tables are looked at. None of them holds text of
// a prompt or an answer, and of a request's id a hash is kept.
//
// gRPC is framed by hand (grpc.go). OTLP needs three methods that take one message and
// return an empty one: a five-byte prefix and two trailers, which net/http carries
// over HTTP/2 without encryption. That costs no dependency, and the bounds of the one
// server hold for both protocols.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"llmtop/probes"
)

// Options of a probe.
type Options struct {
	Addr      string           // host:port to listen on
	Endpoints func() []string  // the engines that are attached; nil: none
	Now       func() time.Time // nil: time.Now
}

// Probe listens for exports. Read returns a probes.RequestsSet when requests came.
type Probe struct {
	options Options
	name    string

	mu       sync.Mutex
	server   *server // nil while the port cannot be had
	closed   bool
	spans    *assembler
	trouble  map[string]int // exports refused and requests left out since the previous read, by reason
	sections map[string]*probes.Requests
	seq      uint64
}

// A section is told again, without what it told before, as long as quietAfter has not
// passed since something came; maxEndpoints bounds how many there are.
const (
	quietAfter   = time.Minute
	maxEndpoints = 32
)

// New listens at once. Where that fails Read says why, and tries again.
func New(o Options) *Probe {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Endpoints == nil {
		o.Endpoints = func() []string { return nil }
	}
	p := &Probe{options: o, name: "otlp " + o.Addr, spans: newAssembler(), trouble: map[string]int{}, sections: map[string]*probes.Requests{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listen() // told by Listening, and by every Read
	return p
}

// Name is "otlp ADDR".
func (p *Probe) Name() string { return p.name }

// Listening is nil when the probe can be reached, else why it cannot.
func (p *Probe) Listening() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listen()
}

// Addr is where it listens, "" where it does not.
func (p *Probe) Addr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server == nil {
		return ""
	}
	return p.server.addr
}

// listen opens the port if it is not open. p.mu is held.
func (p *Probe) listen() error {
	switch {
	case p.closed:
		return errors.New("closed")
	case p.server != nil:
		return nil
	}
	server, err := serve(p.options.Addr, &handler{take: p.take, refused: p.refused})
	if err != nil {
		return fmt.Errorf("listening for traces: %w", err)
	}
	p.server = server
	return nil
}

// Close ends the listening and all connections.
func (p *Probe) Close() error {
	p.mu.Lock()
	server := p.server
	p.server, p.closed = nil, true
	p.mu.Unlock()
	if server == nil {
		return nil
	}
	return server.close()
}

// take is given the spans of one export.
func (p *Probe) take(batches []batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.options.Now()
	for _, b := range batches {
		p.spans.add(now, b)
	}
}

// refused is told why an export was not taken: one of a few fixed texts.
func (p *Probe) refused(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble["exports refused, "+why]++
}

// Read returns the requests whose spans are complete, by the endpoint they belong to.
// Nothing is returned while nothing came. The error says what could not be used.
func (p *Probe) Read(context.Context) (probes.Section, error) {
	endpoints := p.options.Endpoints()
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.listen()
	now := p.options.Now()
	at := probes.Stamp(now)
	came := p.collect(now, at, endpoints)
	if err == nil {
		err = p.said()
	}
	if !came {
		return nil, err
	}
	var set probes.RequestsSet
	for _, endpoint := range slices.Sorted(maps.Keys(p.sections)) {
		set = append(set, p.sections[endpoint])
	}
	return set, err
}

// collect makes the sections of this read and reports whether any of them has news.
func (p *Probe) collect(now, at time.Time, endpoints []string) (came bool) {
	for endpoint, s := range p.sections {
		if at.Sub(s.At) > quietAfter {
			delete(p.sections, endpoint)
		} else if len(s.Finished) > 0 || s.Missed > 0 {
			p.sections[endpoint] = &probes.Requests{At: s.At, Endpoint: endpoint, FinishedOnly: true}
		}
	}
	for _, d := range p.spans.collect(now) {
		s := p.section(at, d.service.endpoint(endpoints))
		came = true
		if d.fault != "" {
			s.Missed++
			p.trouble["requests left out, "+string(d.fault)]++
			continue
		}
		p.seq++
		d.request.Seq = p.seq
		s.Finished = append(s.Finished, d.request)
	}
	return came
}

// section is the one of an endpoint, of this read.
func (p *Probe) section(at time.Time, endpoint string) *probes.Requests {
	if s := p.sections[endpoint]; s != nil && s.At.Equal(at) {
		return s
	}
	if p.sections[endpoint] == nil && len(p.sections) >= maxEndpoints {
		endpoint = otherEndpoint
		if s := p.sections[endpoint]; s != nil && s.At.Equal(at) {
			return s
		}
	}
	s := &probes.Requests{At: at, Endpoint: endpoint, FinishedOnly: true}
	p.sections[endpoint] = s
	return s
}

// said is the trouble since the previous read in one line.
func (p *Probe) said() error {
	for what, n := range p.spans.lost {
		p.trouble[what] += n
	}
	clear(p.spans.lost)
	if len(p.trouble) == 0 {
		return nil
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(p.trouble)) {
		parts = append(parts, fmt.Sprintf("%d %s", p.trouble[what], what))
	}
	clear(p.trouble)
	return errors.New(strings.Join(parts, "; "))
}
