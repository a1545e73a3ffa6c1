package engineconfig

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"llmtop/probes"
)

// reading gathers what one round of questions finds.
type reading struct {
	engine  *engine // nil while it is not known
	version string
	facts   map[string]probes.Fact
	problem error // of the last page that failed otherwise than by not being there
	asleep  bool
}

// add keeps a fact; who tells first is believed.
func (r *reading) add(name, value, source string) {
	if _, known := r.facts[name]; !known && value != "" {
		r.facts[name] = probes.Fact{Name: name, Value: value, Source: source}
	}
}

func (r *reading) sorted() []probes.Fact {
	return slices.SortedFunc(maps.Values(r.facts), func(a, b probes.Fact) int { return strings.Compare(a.Name, b.Name) })
}

// pages asks for the pages of the engine, and as long as it is not known for those that
// may prove one. An error ends the round: nobody answers.
func (p *Probe) pages(ctx context.Context, r *reading) error {
	answered := map[string]bool{} // by path; false: asked in vain
	for page := nextPage(r, answered); page != nil; page = nextPage(r, answered) {
		answered[page.path] = false
		body, err := p.page(ctx, page.path)
		switch {
		case err == nil:
			answered[page.path] = true
			r.page(page.path, body)
		case unreachable(err):
			return err
		case !errors.Is(err, probes.ErrNotExposed):
			r.problem = err
		}
	}
	return nil
}

// nextPage is the next page to ask for, nil when there is none. A sleeping engine would
// be woken by some.
func nextPage(r *reading, answered map[string]bool) *page {
	if r.asleep {
		return nil
	}
	list := unknown
	if r.engine != nil {
		list = r.engine.pages
	}
	for i := range list {
		if _, asked := answered[list[i].path]; !asked && !answered[list[i].instead] {
			return &list[i]
		}
	}
	return nil
}

// unreachable reports an error that the next page would meet too.
func unreachable(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, syscall.ECONNREFUSED)
}

// page fetches and decodes a page. One that is not there is remembered.
func (p *Probe) page(ctx context.Context, path string) (any, error) {
	b := p.missing[path]
	if b == nil {
		b = &probes.Backoff{}
		p.missing[path] = b
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	f := probes.NewFetcher(p.address, path, probes.FetchOptions{
		Timeout: p.o.Timeout, MaxBytes: maxBytes, Access: p.o.Access, Transport: p.o.Transport, Accept: "application/json",
	})
	defer f.Close()
	got, err := f.Get(ctx, nil)
	if err := b.Note(err, absent); err != nil {
		return nil, err
	}
	body, err := decode(got.Body)
	if err != nil { // HTML of a front page is no page of ours
		return nil, b.Note(fmt.Errorf("%s: %w: found %s", got.URL, probes.ErrNotExposed, err), absent)
	}
	return body, nil
}
