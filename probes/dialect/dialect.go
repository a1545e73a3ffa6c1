// Package dialect gives a scrape its meaning: in flow raw series under an
// engine's own names, out flows the canonical *probes.Engine. Each engine's
// vocabulary is a table in a file of its own; nothing here knows a metric name
// otherwise. Everything is a pure function of the scrape. Rates, quantiles and
// judgements are left to package rules.
package dialect

import (
	"strings"
	"sync"

	"llmtop/probes"
)

// table is the vocabulary of one engine. Names in it are folded (see fold).
type table struct {
	name   string
	prefix string // a family that begins with it proves the engine
	fields []field
}

// tables lists the engines that can be read, the most telling first.
func tables() []*table { return []*table{&vllm} }

// Decode returns what a scrape says in canonical terms, nil when no dialect
// knows its names. It compiles the mapping each time; who decodes a stream of
// scrapes uses a Decoder.
func Decode(s *probes.Scrape) *probes.Engine { return NewDecoder().Decode(s) }

// maxPlans bounds the mappings a Decoder keeps: a window holds few page shapes.
const maxPlans = 32

// Decoder decodes as Decode does and keeps the mapping of the page shapes it
// met. It is safe for concurrent use, and what it returns depends on the scrape alone.
type Decoder struct {
	mu    sync.Mutex
	plans map[*probes.Schema]*plan
}

// NewDecoder returns a Decoder that has met nothing yet.
func NewDecoder() *Decoder { return &Decoder{plans: map[*probes.Schema]*plan{}} }

// Decode returns what a scrape says in canonical terms, nil when no dialect knows its names.
func (d *Decoder) Decode(s *probes.Scrape) *probes.Engine {
	if s == nil || s.Schema == nil || len(s.Values) < len(s.Schema.Series) {
		return nil
	}
	p := d.plan(s.Schema)
	if p == nil {
		return nil
	}
	return p.engine(s)
}

func (d *Decoder) plan(schema *probes.Schema) *plan {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, known := d.plans[schema]
	if !known {
		if len(d.plans) >= maxPlans {
			clear(d.plans)
		}
		p = compile(schema)
		d.plans[schema] = p
	}
	return p
}

// recognise finds the table whose prefix occurs in the page.
func recognise(schema *probes.Schema) *table {
	for _, t := range tables() {
		for i := range schema.Series {
			if strings.HasPrefix(fold(schema.Series[i].Family, probes.Untyped), t.prefix) {
				return t
			}
		}
	}
	return nil
}
