package scrape

import "bytes"

// ending knows whether the pages of an endpoint end with a line end. Some exporters
// leave the last one out, which says nothing; a page that lacks it although the ones
// before had it was cut off on its way.
type ending struct {
	usual bool // some page ended with a line end
	cut   bool // the last page was cut
}

// trim takes the last line off a page that was cut.
func (e *ending) trim(page []byte) []byte {
	whole := bytes.HasSuffix(page, []byte("\n"))
	e.cut = e.usual && !whole && len(page) > 0
	e.usual = e.usual || whole
	if e.cut {
		page = page[:bytes.LastIndexByte(page, '\n')+1]
	}
	return page
}
