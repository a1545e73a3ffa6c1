package scrape

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"llmtop/probes"
)

// llamacpp is what a llama.cpp server tells beside its metrics: since 2025-05 these no
// longer say how full the KV cache is, but its slots do (GET /slots). A server may sleep
// (since b7492), and /slots wakes it, as /metrics does before b10519: so /props is asked
// first, which does not. Of a slot only numbers are read, never its prompt.
type llamacpp struct {
	props, slots *probes.Fetcher
	refused      probes.Backoff // a server without /slots (--no-slots)
	wakeful      time.Time      // until when it is not asked whether it sleeps: it is of a build that never does

	base, schema *probes.Schema // the page's shape, and that with the slots
	n            int            // slots in schema
}

// Bounds of the pages, and how long a refusal stands.
const (
	maxProps     = 1 << 20
	maxSlotBytes = 4 << 20
	maxSlots     = 1024
	slotsRefused = time.Minute
	staysAwake   = time.Minute // how long a server that knows no sleep is not asked again
)

// sleepsOn is the first build whose /metrics does not wake a sleeping server.
const sleepsOn = 10519

// errAsleep says that a server was left alone.
var errAsleep = errors.New("the server sleeps, and asking for its metrics would wake it")

func (p *Probe) isAsleep() error {
	return probes.Lacking(fmt.Errorf("%s: %w", p.fetch.URL(), errAsleep))
}

// isLlamaCPP goes by the names on a page.
func isLlamaCPP(s *probes.Scrape) bool {
	for i := range s.Schema.Series {
		if strings.HasPrefix(s.Schema.Series[i].Family, "llamacpp:") {
			return true
		}
	}
	return false
}

func newLlamaCPP(e probes.Endpoint, o probes.FetchOptions) *llamacpp {
	o.Accept = "application/json"
	props, slots := o, o
	props.MaxBytes, slots.MaxBytes = maxProps, maxSlotBytes
	return &llamacpp{props: probes.NewFetcher(e, "/props", props), slots: probes.NewFetcher(e, "/slots", slots)}
}

var buildNumber = regexp.MustCompile(`^b([0-9]{1,7})\b`)

// asleep reports a server that sleeps, and whether its metrics may be asked for still. One
// that does not tell is of a build that never sleeps, or keeps its properties to itself.
func (l *llamacpp) asleep(ctx context.Context) (sleeps, metrics bool) {
	if time.Now().Before(l.wakeful) {
		return false, true
	}
	var told struct {
		Build  string `json:"build_info"`
		Sleeps *bool  `json:"is_sleeping"`
	}
	page, err := l.props.Get(ctx, nil)
	if err == nil {
		err = json.Unmarshal(page.Body, &told)
	}
	if errors.Is(err, probes.ErrNotExposed) || err == nil && told.Sleeps == nil {
		l.wakeful = time.Now().Add(staysAwake)
	}
	if err != nil || told.Sleeps == nil || !*told.Sleeps {
		return false, true
	}
	if m := buildNumber.FindStringSubmatch(told.Build); m != nil {
		n, _ := strconv.Atoi(m[1])
		return true, n >= sleepsOn
	}
	return true, false
}

// slot is what is read of one.
type slot struct {
	Context int             `json:"n_ctx"`
	Busy    bool            `json:"is_processing"`
	Prompt  int             `json:"n_prompt_tokens"`
	Next    json.RawMessage `json:"next_token"` // an object, in newer builds a list of them
}

// tokens is what a busy slot holds: its prompt so far and what was decoded.
func (s *slot) tokens() float64 {
	if !s.Busy {
		return 0
	}
	var next []struct {
		Decoded int `json:"n_decoded"`
	}
	text := bytes.TrimSpace(s.Next)
	if len(text) > 0 && text[0] == '{' {
		text = append(append([]byte{'['}, text...), ']')
	}
	decoded := 0
	if json.Unmarshal(text, &next) == nil && len(next) > 0 {
		decoded = max(0, next[0].Decoded)
	}
	return float64(min(max(0, s.Prompt)+decoded, max(0, s.Context)))
}

// add appends the slots to a scrape of the page, as gauges llamacpp:slot_n_ctx and
// llamacpp:slot_n_tokens with the label slot, and llamacpp:slot_count. A server that does
// not tell leaves the scrape as it is.
func (l *llamacpp) add(ctx context.Context, s *probes.Scrape) *probes.Scrape {
	if l.refused.Err() != nil {
		return s
	}
	page, err := l.slots.Get(ctx, nil)
	if l.refused.Note(err, slotsRefused) != nil {
		return s
	}
	var slots []slot
	if json.Unmarshal(page.Body, &slots) != nil || len(slots) == 0 || len(slots) > maxSlots || slots[0].Context <= 0 {
		return s
	}
	if l.base != s.Schema || l.n != len(slots) {
		l.base, l.n, l.schema = s.Schema, len(slots), withSlots(s.Schema, len(slots))
	}
	out := *s
	out.Schema = l.schema
	out.Values = append(make([]float64, 0, len(s.Values)+2*len(slots)+1), s.Values...)
	out.Values = append(out.Values, float64(len(slots)))
	for i := range slots {
		out.Values = append(out.Values, float64(slots[i].Context), slots[i].tokens())
	}
	return &out
}

// withSlots is a page's shape and that of n slots.
func withSlots(base *probes.Schema, n int) *probes.Schema {
	gauge := func(name string, labels ...probes.Label) probes.Series {
		return probes.Series{Family: name, Name: name, Type: probes.Gauge, Labels: labels}
	}
	out := &probes.Schema{Series: append(make([]probes.Series, 0, len(base.Series)+2*n+1), base.Series...)}
	out.Series = append(out.Series, gauge("llamacpp:slot_count"))
	for i := range n {
		label := probes.Label{Name: "slot", Value: strconv.Itoa(i)}
		out.Series = append(out.Series, gauge("llamacpp:slot_n_ctx", label), gauge("llamacpp:slot_n_tokens", label))
	}
	return out
}

// Close gives the connections back.
func (l *llamacpp) Close() {
	l.props.Close()
	l.slots.Close()
}

// firstPatience is how long the first look waits for an answer about sleep: a server that
// has one gives it at once, the others say that there is no such page.
const firstPatience = 300 * time.Millisecond

// firstLook asks a server that nobody knows yet whether it sleeps, before its metrics are
// asked for the first time.
func (p *Probe) firstLook(ctx context.Context) error {
	if p.awake {
		return nil
	}
	o := p.more
	o.Timeout = firstPatience
	l := newLlamaCPP(p.at, o)
	defer l.Close()
	if _, metrics := l.asleep(ctx); !metrics {
		return p.isAsleep()
	}
	p.awake = true
	return nil
}

// readLlamaCPP is read for a server that was found to be llama.cpp.
func (p *Probe) readLlamaCPP(ctx context.Context, began time.Time) (*probes.Scrape, error) {
	sleeps, metrics := p.llama.asleep(ctx)
	if !metrics {
		return nil, p.isAsleep()
	}
	s, err := p.readPage(ctx, began)
	if s != nil && !isLlamaCPP(s) { // another engine took its place
		p.llama.Close()
		p.llama, p.seen = nil, s.Schema
		return s, err
	}
	if s == nil || sleeps {
		return s, err
	}
	return p.llama.add(ctx, s), err
}
