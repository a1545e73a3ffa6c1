package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// doctorWidth is that of the narrowest terminal in use: what a doctor prints is pasted.
const doctorWidth = 80

// page is a text of sections that is made line by line.
type page struct{ strings.Builder }

func (p *page) line(format string, a ...any) {
	fmt.Fprintf(&p.Builder, format, a...)
	p.WriteByte('\n')
}

// section begins a part of the page.
func (p *page) section(format string, a ...any) {
	title := fmt.Sprintf(format, a...)
	p.line("")
	p.line("== %s %s", title, strings.Repeat("=", max(2, doctorWidth-4-utf8.RuneCountInString(title))))
}

// wrapped prints words after a label, on as many lines as they need. A word is what the
// caller says it is: it may have blanks in it, and is cut only when it is longer than a line.
func (p *page) wrapped(label string, separator string, words ...string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(label))
	line, empty := label, true
	for i, w := range words {
		if i < len(words)-1 {
			w += separator
		}
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > doctorWidth {
			p.line("%s", strings.TrimRight(line, " "))
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+w, false
	}
	p.line("%s", strings.TrimRight(line, " "))
}

// prose wraps a text at its blanks.
func (p *page) prose(label, text string) { p.wrapped(label, "", strings.Fields(text)...) }

// grid prints pairs of name and value in two columns, row by row; a pair that is too
// wide for one gets a line of its own.
func (p *page) grid(pairs [][2]string) {
	const gap, width = 3, (doctorWidth - 1 - 3) / 2
	left := ""
	flush := func() {
		if left != "" {
			p.line(" %s", left)
		}
		left = ""
	}
	for _, pair := range pairs {
		space := width - utf8.RuneCountInString(pair[0]) - utf8.RuneCountInString(pair[1])
		switch {
		case space < 1:
			flush()
			p.line(" %s%s%s", pair[0], strings.Repeat(" ", max(1, doctorWidth-1-utf8.RuneCountInString(pair[0])-utf8.RuneCountInString(pair[1]))), pair[1])
		case left == "":
			left = pair[0] + strings.Repeat(" ", space) + pair[1]
		default:
			p.line(" %s%s%s%s%s", left, strings.Repeat(" ", gap), pair[0], strings.Repeat(" ", space), pair[1])
			left = ""
		}
	}
	flush()
}

// readings prints the values of a list in a grid, and below it what is missing, by reason.
func (p *page) readings(list []shown) {
	p.values(list)
	p.absent(" ", list)
}

// values prints those that are there.
func (p *page) values(list []shown) {
	var pairs [][2]string
	for _, s := range list {
		if s.absent == "" {
			pairs = append(pairs, [2]string{s.name, s.text})
		}
	}
	p.grid(pairs)
}

// absent names what is missing, each reason once.
func (p *page) absent(indent string, list []shown) {
	p.WriteString(absentText(indent, list))
}

func absentText(indent string, list []shown) string {
	p := &page{}
	var reasons []string
	by := map[string][]string{}
	for _, s := range list {
		if s.absent == "" {
			continue
		}
		if by[s.absent] == nil {
			reasons = append(reasons, s.absent)
		}
		if !slices.Contains(by[s.absent], s.name) {
			by[s.absent] = append(by[s.absent], s.name)
		}
	}
	for _, why := range reasons {
		p.wrapped(indent+why+": ", ",", by[why]...)
	}
	return p.String()
}
