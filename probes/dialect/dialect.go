// Package dialect gives a scrape its meaning: in flow raw series under an
// engine's own names, out flows the canonical *probes.Engine. Each engine's
// vocabulary is a table in a file of its own; nothing here knows a metric name
// otherwise. Everything is a pure function of the scrape. Rates, quantiles and
// judgements are left to package rules.
package dialect

import (
	"sync"

	"llmtop/probes"
)

// table is the vocabulary of one engine. Names in it are folded (see fold).
type table struct {
	name   string   // one of probes.Dialects
	prefix string   // a family that begins with it proves the engine;
	all    []string // or these families together, for names without a prefix,
	with   where    // each of them on series with these labels

	rows  []row
	waits []waitRow // what the waiting requests are made of

	model     []string               // labels with the model's name; nil: model_name
	modelIn   []string               // families that tell the model; nil, or none on the page: all
	instances []string               // labels by which the engines behind one page differ
	ranks     []string               // labels of ranks that all tell the same: the lowest is read
	role      probes.Role            // what every page of this kind does, unless
	roleLabel string                 // a label says it,
	roles     map[string]probes.Role // in these words
	atFinish  []string               // token counters move when a request ends, unless the page has one of these
	finishes  bool                   // whether atFinish means anything
}

// waitRow names a part of the waiting requests: one family's value, or one for each value of a label.
type waitRow struct {
	name  string
	names []string
	by    string // label whose values are the names
	where where
	lacks []string // not on a page with one of these families
}

// tables lists the engines that can be read, the most telling first: a page may have
// families of several, a worker's of its engine and of the framework around it.
func tables() []*table {
	return []*table{
		&vllm,
		&sglang,
		&trtllm,
		&triton,
		&tgi,
		&lmdeploy,
		&llamacpp,
		&nim,
		&dynamoFrontend,
		&dynamoWorker,
	}
}

// Decode returns what a scrape says in canonical terms, nil when no dialect
// knows its names. It compiles the mapping each time; who decodes a stream of
// scrapes uses a Decoder.
func Decode(s *probes.Scrape) *probes.Engine { return NewDecoder().Decode(s) }

// maxPlans bounds the mappings a Decoder keeps. Each endpoint has a page shape of its own,
// and there may be some dozens of them.
const maxPlans = 256

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
