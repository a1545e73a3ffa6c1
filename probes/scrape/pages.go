package scrape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"llmtop/probes"
)

// searchEvery is how often the other pages are tried while none is there.
const searchEvery = 30 * time.Second

// pages finds the path of an engine's metrics when the address did not name it. A page
// that once was a JSON array is not asked for again: trtllm-serve's /metrics is a queue
// that a reader takes from others. When the engine has gone, another may come in its
// place, with its metrics elsewhere: all is open again then.
type pages struct {
	search bool     // the address named no page
	found  bool     // the path that is asked for is it
	left   []string // paths that may be it
	next   time.Time
	told   string // the page as it was told last
}

func newPages(search bool) pages { return pages{search: search, left: probes.MetricsPages()} }

// known takes what is told of the page. When that changes, the engine is another one.
func (p *pages) known(f *probes.Fetcher, path string) {
	if path != "" && p.told != "" && path != p.told {
		p.search = false
		f.SetPath(path)
	}
	p.told = path
}

// get fetches the page, or finds it.
func (p *pages) get(ctx context.Context, f *probes.Fetcher) (*probes.Page, error) {
	page, err := f.Get(ctx, nil)
	switch {
	case !p.search:
		return page, err
	case errors.Is(err, syscall.ECONNREFUSED):
		p.found, p.left, p.next = false, probes.MetricsPages(), time.Time{}
		f.SetPath(probes.DefaultPage)
		return page, err
	case err == nil && !isJSON(page):
		p.found = true
		return page, nil
	case err != nil && (p.found || !errors.Is(err, probes.ErrNotExposed)):
		return page, err
	}
	p.found = false
	if err == nil {
		err = fmt.Errorf("%s: found JSON, not Prometheus metrics", page.URL)
		if isQueue(page) {
			p.left = slices.DeleteFunc(slices.Clone(p.left), func(path string) bool { return path == f.Path() })
			p.next = time.Time{}
		}
	} else {
		err = withFlags(err)
	}
	if time.Now().Before(p.next) {
		return nil, err
	}
	p.next = time.Now().Add(searchEvery)
	if found := p.look(ctx, f); found != nil {
		return found, nil
	}
	return nil, err
}

// withFlags names the engines that have no metrics page unless they are told to.
func withFlags(err error) error {
	return fmt.Errorf("%w; SGLang needs --enable-metrics, llama.cpp --metrics", err)
}

// look asks for the pages that are left but the one just asked for. When none is
// metrics, the first one left is what will be asked for.
func (p *pages) look(ctx context.Context, f *probes.Fetcher) *probes.Page {
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
			p.found = true
			return page
		case err != nil || !isQueue(page):
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

// isQueue reports an array, which trtllm-serve's queue is. An object is what a gateway
// says while it has nothing better.
func isQueue(page *probes.Page) bool { return bytes.HasPrefix(bytes.TrimSpace(page.Body), []byte("[")) }
