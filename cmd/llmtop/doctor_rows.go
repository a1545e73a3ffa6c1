package main

import (
	"strconv"
	"strings"
)

// rowsMost bounds the rows of a list.
const rowsMost = 6

// rows prints a list of structs, each on a line or a few: what names it, then its readings
// under short names. Of a counter that was read before, only what it grew by is told; what
// is 0 is left out.
func rows[T any](p *page, title string, now, before []T) {
	if len(now) == 0 {
		return
	}
	p.line(" %s", title)
	was := map[string][]shown{}
	for i := range before {
		list := readingsOf(&before[i])
		was[nameOfRow(list)] = list
	}
	var lacking []shown
	for i := range now[:min(len(now), rowsMost)] {
		list := readingsOf(&now[i])
		p.wrapped("   ", ",", rowWords(list, was[nameOfRow(list)])...)
		lacking = append(lacking, list...)
	}
	if more := len(now) - rowsMost; more > 0 {
		p.line("   … and %d more (--json has them all)", more)
	}
	p.absent("   ", lacking)
}

// rowWords are the words of one row.
func rowWords(list, before []shown) (words []string) {
	was := numbersOf(before)
	for _, s := range list {
		from, grew := was[s.name]
		switch {
		case s.absent != "" || s.is && s.number == 0:
		case !s.is:
			words = append(words, plainWords(s))
		case !grew || !strings.HasSuffix(s.name, "_total"):
			words = append(words, shortName(s.name)+" "+s.text)
		case s.number != from:
			words = append(words, shortName(s.name)+" "+signed(s.number-from, unitOf(s.name)))
		}
	}
	return words
}

// nameOfRow is what tells an element of a list from the others: all that is no reading of
// a number, and no state.
func nameOfRow(list []shown) string {
	var words []string
	for _, s := range list {
		if !s.is && s.absent == "" && s.name != "state" {
			words = append(words, s.text)
		}
	}
	return strings.Join(words, " ")
}

// plainWords is a field that is no Opt: text stands for itself, numbers and flags have
// their names.
func plainWords(s shown) string {
	_, err := strconv.ParseFloat(s.text, 64)
	switch {
	case s.text == "true":
		return shortName(s.name)
	case err == nil:
		return shortName(s.name) + " " + s.text
	}
	return s.text
}

// shortName leaves out what the unit after the value tells.
func shortName(name string) string {
	name = strings.TrimSuffix(name, "_total")
	for _, suffix := range []string{"_bytes_per_second", "_bytes", "_seconds", "_ratio"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return strings.ReplaceAll(name, "_", " ")
}
