package scrape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"llmtop/probes"
)

// searchEvery is how often the other pages are tried while none is there.
const searchEvery = 30 * time.Second

// pages finds the path of an engine's metrics when the address did not name it. A page
// that once was JSON is not asked for again: trtllm-serve's /metrics is a queue that a
// reader takes from others.
type pages struct {
	left []string // paths that may be it, the first is asked; empty: nothing is searched
	next time.Time
}

func newPages(search bool) pages {
	if !search {
		return pages{}
	}
	return pages{left: probes.MetricsPages()}
}

// get fetches the page, or finds it.
func (p *pages) get(ctx context.Context, f *probes.Fetcher) (*probes.Page, error) {
	page, err := f.Get(ctx, nil)
	switch {
	case len(p.left) == 0:
		return page, err
	case err == nil && !isJSON(page):
		p.left = nil // found
		return page, nil
	case err != nil && !errors.Is(err, probes.ErrNotExposed):
		return page, err
	}
	if err == nil {
		err = fmt.Errorf("%s: found JSON, not Prometheus metrics", page.URL)
		p.left = p.left[1:]
	} else if err = withFlags(err); time.Now().Before(p.next) {
		return nil, err
	}
	p.next = time.Now().Add(searchEvery)
	if found := p.search(ctx, f); found != nil {
		return found, nil
	}
	return nil, err
}

// withFlags names the engines that have no metrics page unless they are told to.
func withFlags(err error) error {
	return fmt.Errorf("%w; SGLang needs --enable-metrics, llama.cpp --metrics", err)
}

// search asks for the pages that are left but the one just asked for. When none is
// metrics, the first one left is what will be asked for.
func (p *pages) search(ctx context.Context, f *probes.Fetcher) *probes.Page {
	asked := f.Path()
	var left []string
	for _, path := range p.left {
		if path == asked {
			left = append(left, path)
			continue
		}
		f.SetPath(path)
		page, err := f.Get(ctx, nil)
		switch {
		case err == nil && !isJSON(page):
			p.left = nil
			return page
		case err != nil:
			left = append(left, path)
		}
	}
	p.left = left
	if len(left) > 0 {
		f.SetPath(left[0])
	}
	return nil
}

// isJSON goes by what the page is: what a server calls it says little. A quoted metrics
// page is one.
func isJSON(page *probes.Page) bool {
	if body := unquoted(page.Body); bytes.HasPrefix(body, []byte("#")) {
		return false
	}
	return probes.Describe("", page.Body) == "JSON"
}
