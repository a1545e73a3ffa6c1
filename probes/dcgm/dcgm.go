// Package dcgm reads NVIDIA GPUs from the metrics page of a dcgm-exporter: in flow the
// series of a page that another probe fetches, out flows the section *probes.GPU. Before
// Hopper it is the only source of SM, tensor and DRAM activity without root, and in a
// container without the driver's library it may be the only one at all.
//
// What an exporter tells is old: it renews its values every 30 seconds unless it was told
// otherwise, and its page does not say when. Each device is dated by the fetch in which its
// page was first seen to have changed, and says how often that happens (PeriodSeconds); so
// a value may be older than it seems by one fetch, and by one period before the first
// change was seen. Which of the readings are there depends on the exporter's list of
// fields: SM activity, SM occupancy and the throttle times are not on the default one.
//
// In Kubernetes the exporter often listens on its pod's or its node's address alone; then
// it has to be named by that address. A service stands for the exporters of all nodes, and
// would tell of another one's devices each time.
//
// Names, units and blank values are those of DCGM's public headers, the old names and those
// that 4.6 gave. Verified on written pages, not against an exporter on a GPU.
package dcgm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"llmtop/probes"
)

// askEvery is how long an exporter that is not there is left alone.
const askEvery = time.Minute

// errDenied: the exporter wants what it is not given.
var errDenied = errors.New("the exporter asks for credentials, and is sent none")

// Options of the probe; the zero value is for an exporter that is known to be there.
type Options struct {
	Looking bool                            // nobody said that there is one: none is no error
	Wanted  func(ctx context.Context) error // not nil: says why the exporter need not be asked now, nil when it should be
}

// Probe yields *probes.GPU. It is a probes.Probe.
type Probe struct {
	name string
	page probes.Probe // yields *probes.Scrape
	o    Options
	now  func() time.Time

	known   bool // an exporter did answer
	again   time.Time
	absence error // until again
	renewal renewal
}

// New returns a probe of the exporter at endpoint, whose page is read by page. It closes page.
func New(endpoint string, page probes.Probe, o Options) *Probe {
	return &Probe{name: "dcgm " + nameOf(endpoint), page: page, o: o, now: time.Now}
}

// nameOf is the endpoint without credentials and query: names are shown and recorded.
func nameOf(endpoint string) string {
	e, err := probes.ParseEndpoint(endpoint)
	if err != nil {
		return "at an address that cannot be used"
	}
	return e.String()
}

// Name is "dcgm" and the endpoint.
func (p *Probe) Name() string { return p.name }

// Read fetches the page and returns what it tells of the devices. While an exporter is only
// looked for, that there is none is said as something lacking, and asked again a minute later.
func (p *Probe) Read(ctx context.Context) (probes.Section, error) {
	now := p.now()
	if now.Before(p.again) {
		return nil, p.absence
	}
	if p.o.Wanted != nil {
		if err := p.o.Wanted(ctx); err != nil {
			return nil, probes.Lacking(err)
		}
	}
	section, err := p.page.Read(ctx)
	page, ok := section.(*probes.Scrape)
	if !ok || page == nil {
		return nil, p.none(now, err)
	}
	g := devices(page)
	if len(g.Devices) == 0 {
		return nil, p.none(now, errors.New("the page tells of no GPU"))
	}
	p.known = true
	p.renewal.date(g, page)
	return g, err
}

// none says that nothing was read.
func (p *Probe) none(now time.Time, err error) error {
	if probes.Denied(err) {
		err = errDenied
	}
	if !p.o.Looking || p.known || err == nil {
		return err
	}
	p.again = now.Add(askEvery)
	p.absence = probes.Lacking(fmt.Errorf("no DCGM exporter: %w", err))
	return p.absence
}

// Close closes the probe of the page.
func (p *Probe) Close() error {
	if c, ok := p.page.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
