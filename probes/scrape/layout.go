package scrape

import "llmtop/probes"

// maxBadLines is how many undecodable lines a layout remembers.
const maxBadLines = 100

// layout is how the lines of a page follow each other.
type layout struct {
	repeatable bool
	texts      []string // per sample line: what stands before its value; the whole line when it is bad
	bad        []bool   // per sample line
	types      []string // the TYPE lines
	dropped    int      // bad lines
}

func (l *layout) add(line []byte, id *identity) {
	switch {
	case id != nil:
		l.texts, l.bad = append(l.texts, id.text), append(l.bad, false)
	case l.dropped < maxBadLines && len(line) <= maxLine:
		l.texts, l.bad = append(l.texts, string(line)), append(l.bad, true)
		l.dropped++
	default:
		l.repeatable = false
	}
}

// addType remembers a TYPE line, the first limit of them.
func (l *layout) addType(line []byte, limit int) {
	if len(l.types) == limit {
		l.repeatable = false
		return
	}
	l.types = append(l.types, string(line))
}

// values reads the values of a page that is laid out exactly like this; ok is
// false when it is not.
func (l *layout) values(page []byte) (values []float64, ok bool) {
	values = make([]float64, 0, len(l.texts)-l.dropped)
	var line []byte
	at, typeAt := 0, 0
	for len(page) > 0 {
		line, page = nextLine(page)
		switch {
		case len(line) == 0:
		case line[0] == '#':
			if _, _, ok := typeLine(line); ok {
				if typeAt == len(l.types) || string(line) != l.types[typeAt] {
					return nil, false
				}
				typeAt++
			}
		case at == len(l.texts):
			return nil, false
		case l.bad[at]:
			if string(line) != l.texts[at] {
				return nil, false
			}
			at++
		default:
			value, ok := valueAfter(line, l.texts[at])
			if !ok {
				return nil, false
			}
			values = append(values, value)
			at++
		}
	}
	return values, at == len(l.texts) && typeAt == len(l.types)
}

// valueAfter reads the value of a line that begins with text.
func valueAfter(line []byte, text string) (float64, bool) {
	n := len(text)
	if len(line) <= n || string(line[:n]) != text || !blank(line[n]) && line[n-1] != '}' {
		return 0, false
	}
	return splitValue(line[n:])
}

// equal compares two series of the same parser; equal label sets are mostly the same slice.
func equal(a, b *probes.Series) bool {
	if a.Name != b.Name || a.Family != b.Family || a.Type != b.Type || len(a.Labels) != len(b.Labels) {
		return false
	}
	if len(a.Labels) == 0 || &a.Labels[0] == &b.Labels[0] {
		return true
	}
	for i := range a.Labels {
		if a.Labels[i] != b.Labels[i] {
			return false
		}
	}
	return true
}
