package scrape

import (
	"bytes"

	"llmtop/probes"
)

// defaultMaxSeries is far above what engines expose: a busy vLLM has about 700.
const defaultMaxSeries = 20000

// Parser turns pages of one endpoint into scrapes. Pages hardly change shape:
// one whose series follow each other as on the page before is only compared and
// its values read; a line that is new goes through expfmt, once. Lines are parsed
// one by one, so that a bad one takes no other with it. Not for concurrent use.
type Parser struct {
	max    int
	names  names
	last   *probes.Schema
	layout layout
	ending ending
}

// NewParser returns a parser that keeps at most maxSeries of a page (0: 20000).
func NewParser(maxSeries int) *Parser {
	if maxSeries <= 0 {
		maxSeries = defaultMaxSeries
	}
	return &Parser{max: maxSeries, names: newNames(2 * maxSeries)}
}

// Parse reads one page with a parser of its own. Endpoint and times of the scrape are empty.
func Parse(page []byte) *probes.Scrape {
	s, _ := NewParser(0).Parse(page)
	return s
}

// Parse reads a page. more counts the series beyond the limit, which are left out.
// When the page before ended with a line end and this one does not, its last line is
// taken for cut: it is dropped, as the half of a number would look like a restart.
func (p *Parser) Parse(page []byte) (s *probes.Scrape, more int) {
	page = p.ending.trim(bytes.TrimPrefix(page, []byte("\ufeff")))
	s, more = p.parse(page)
	if p.ending.cut {
		s.Dropped++
	}
	return s, more
}

func (p *Parser) parse(page []byte) (s *probes.Scrape, more int) {
	if p.last != nil && p.layout.repeatable {
		if values, ok := p.layout.values(page); ok {
			return &probes.Scrape{Schema: p.last, Values: values, Dropped: p.layout.dropped}, 0
		}
	}
	return p.afresh(page)
}

// afresh parses a page line by line and remembers its layout. After as many bad
// lines as there may be series the rest is given up: that is no metrics page.
func (p *Parser) afresh(page []byte) (s *probes.Scrape, more int) {
	p.layout = layout{repeatable: true}
	p.names.trim()
	s = &probes.Scrape{}
	types := families{}
	var found []*identity
	var line []byte
	for len(page) > 0 && s.Dropped <= p.max {
		line, page = nextLine(page)
		switch {
		case len(line) == 0:
		case line[0] == '#':
			if name, word, ok := typeLine(line); ok && len(types) < p.max {
				types.note(name, word)
				p.layout.addType(line, p.max)
			}
		case len(found) == p.max:
			more++
		default:
			id, value := p.names.sample(line)
			p.layout.add(line, id)
			if id == nil {
				s.Dropped++
				continue
			}
			found = append(found, id)
			s.Values = append(s.Values, value)
		}
	}
	p.layout.repeatable = p.layout.repeatable && more == 0 && s.Dropped <= p.max
	s.Schema = p.schema(found, types)
	return s, more
}

// schema gives the series of a page their types. It is the last one again when nothing differs.
func (p *Parser) schema(found []*identity, types families) *probes.Schema {
	s := &probes.Schema{Series: make([]probes.Series, len(found))}
	same := p.last != nil && len(p.last.Series) == len(found)
	for i, id := range found {
		family, t := types.of(id.name)
		s.Series[i] = probes.Series{Family: family, Name: id.name, Type: t, Labels: id.labels}
		same = same && equal(&s.Series[i], &p.last.Series[i])
	}
	if !same {
		p.last = s
	}
	return p.last
}
