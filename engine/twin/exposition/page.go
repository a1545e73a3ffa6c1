package exposition

import (
	"math"
	"slices"
	"time"

	"llmtop/probes"
)

// page is the metrics page of an engine: its table, brought to life.
type page struct {
	personality *personality
	info        Info // as the process began
	blocks      int  // of the KV cache now
	families    []*family
	feeds       [numMoments][]fed
	event       event
	tally       tally
	due         bool // gauges are to be written with the next scrape
	grown       bool // series have come since schema was made
	schema      *probes.Schema
}

// fed is a series and what moves it at a moment.
type fed struct {
	series *series
	feed   feed
}

func newPage(who *personality, i Info) *page {
	p := &page{personality: who, grown: true}
	p.begin(i)
	return p
}

// begin lays the page out as it is when the process starts.
func (p *page) begin(i Info) {
	if i.Context <= 0 {
		i.Context = max(1, min(i.Blocks*i.BlockSize, math.MaxInt32))
	}
	p.info, p.blocks, p.families, p.feeds = i, i.Blocks, nil, [numMoments][]fed{}
	for _, r := range p.personality.rows(&p.info) {
		s := p.place(&r)
		p.feeds[r.on] = append(p.feeds[r.on], fed{s, r.feed})
	}
	p.happened(atStart)
}

// place finds the series of a row, or makes it.
func (p *page) place(r *row) *series {
	last := len(p.families) - 1
	if last < 0 || p.families[last].name != r.name {
		p.families = append(p.families, &family{name: r.name, kind: r.kind})
		last++
	}
	f := p.families[last]
	s := f.find(r.labels)
	if s == nil {
		s = newSeries(r, unix(p.info.Started))
		f.series = append(f.series, s)
	}
	return s
}

// happened moves what moves at this moment.
func (p *page) happened(m moment) {
	for i := range p.feeds[m] {
		f := &p.feeds[m][i]
		amount, n := f.feed(p, &p.event)
		if n == 0 {
			continue
		}
		f.series.move(amount, n)
		if !f.series.told {
			f.series.told, f.series.created, p.grown = true, unix(p.event.at), true
		}
	}
}

// notes lets the engine's own bookkeeping see a moment, then moves the series.
func (p *page) notes(m moment) {
	if p.personality.note != nil {
		p.personality.note(p, m, &p.event)
	}
	p.happened(m)
}

// refresh writes the gauges: at once where the state is known, else with the next scrape.
func (p *page) refresh() {
	if p.event.step != nil && p.event.step.Now != nil {
		p.event.state = p.event.step.Now
	}
	if p.due = p.event.state == nil; !p.due {
		p.happened(atRefresh)
	}
}

// Arrived implements Page.
func (p *page) Arrived(at time.Time, bytes int) {
	p.event = event{at: at}
	p.notes(atArrived)
}

// Queued implements Page.
func (p *page) Queued(r *Request) { p.of(r, atQueued) }

// Admitted implements Page.
func (p *page) Admitted(r *Request) { p.of(r, atAdmitted) }

// First implements Page.
func (p *page) First(r *Request) { p.of(r, atFirst) }

// Finished implements Page.
func (p *page) Finished(r *Request) { p.of(r, atFinished) }

func (p *page) of(r *Request, m moment) {
	p.event = event{at: r.At, request: r}
	p.notes(m)
}

// Stalled implements Page.
func (p *page) Stalled(gap float64) {
	p.event = event{at: p.event.at, gap: gap}
	p.notes(atStalled)
}

// Step implements Page.
func (p *page) Step(s *Step) {
	p.event = event{at: s.At, step: s}
	p.notes(atStep)
}

// Restarted implements Page.
func (p *page) Restarted(i Info) {
	p.event, p.tally, p.due, p.grown = event{}, tally{}, false, true
	p.begin(i)
}

// Resized implements Page.
func (p *page) Resized(blocks int) { p.blocks = max(1, blocks) }

// Scrape implements Page.
func (p *page) Scrape(at time.Time, s *State) (*probes.Schema, []float64) {
	if s == nil {
		s = new(State)
	}
	p.event = event{at: at, state: s}
	p.notes(atScrape)
	if p.due {
		p.refresh()
	}
	p.event = event{at: at}
	p.shape()
	return p.schema, p.personality.style.values(make([]float64, 0, len(p.schema.Series)), p.families)
}

// shape makes the schema anew when series have come or gone, and keeps it when none have.
func (p *page) shape() {
	if !p.grown {
		return
	}
	p.grown = false
	next := p.personality.style.schema(p.families)
	if p.schema == nil || !slices.EqualFunc(p.schema.Series, next.Series, sameSeries) {
		p.schema = next
	}
}

func sameSeries(a, b probes.Series) bool {
	return a.Family == b.Family && a.Name == b.Name && a.Type == b.Type && slices.Equal(a.Labels, b.Labels)
}

func unix(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
