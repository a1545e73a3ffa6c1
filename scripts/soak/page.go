package main

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// page is a scrape of /metrics: values by series, as they are written.
type page map[string]float64

// readPage reads the text format, as far as our engine writes it.
func readPage(r io.Reader) (page, error) {
	p := page{}
	for lines := bufio.NewScanner(r); ; {
		if !lines.Scan() {
			return p, lines.Err()
		}
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		if v, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			p[line[:at]] = v
		}
	}
}

// since is how much the series have grown since an earlier page.
func (p page) since(first page) page {
	grown := page{}
	for series, v := range p {
		grown[series] = v - first[series]
	}
	return grown
}

// sum adds up the series of a name whose labels contain all of the given texts.
func (p page) sum(name string, labels ...string) (total float64) {
series:
	for series, v := range p {
		if series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(series, l) {
				continue series
			}
		}
		total += v
	}
	return total
}
