package play

import "strings"

// At is the page of a fixture that is in one state all the time, at a second. With
// Restarted the restart comes at second 5.
func At(f *Fixture, s State, seconds float64) []byte { return f.Page(s.timeline(), seconds) }

// Page is the page at a second of a timeline.
func (f *Fixture) Page(t Timeline, seconds float64) []byte {
	m := t.at(seconds)
	began := f.began(m)
	var b strings.Builder
	for _, l := range f.lines {
		switch text, gone := f.value(l, m, began); {
		case gone:
		case text == l.value:
			b.WriteString(l.raw)
		default:
			b.WriteString(l.head + text + l.tail)
		}
	}
	return []byte(b.String())
}

// Began is the Unix time when the process that prints the page at a second began, 0
// when the page does not tell.
func (f *Fixture) Began(t Timeline, seconds float64) float64 { return f.began(t.at(seconds)) }

func (f *Fixture) began(m moment) float64 {
	first := 0.0
	for _, l := range f.lines {
		if l.started && (first == 0 || l.v < first) {
			first = l.v
		}
	}
	if first == 0 || !m.restarted {
		return first
	}
	return first + f.up + m.began
}

// value is what stands for a line's value; gone: the line is not there.
func (f *Fixture) value(l *line, m moment, began float64) (text string, gone bool) {
	if l.name == "" {
		return l.value, false
	}
	if l.motion != nil {
		said, ok := l.motion.values[m.gauges]
		switch {
		case ok && said == absent:
			return "", true
		case ok:
			return l.write(said), false
		}
	}
	switch growth := f.growth(l, m.grew); {
	case m.restarted && l.started:
		return l.style.format(began), false
	case m.restarted && l.resets:
		return l.style.format(l.grown(0, growth)), false
	case growth > 0:
		return l.style.format(l.grown(l.v, growth)), false
	}
	return l.value, false
}

// grown adds growth, cut to whole numbers where the line counts in them.
func (l *line) grown(from, growth float64) float64 {
	if l.whole {
		return from + whole(growth)
	}
	return from + growth
}

// write writes a value of a state as the line writes numbers. What is not finite
// stands as it was said.
func (l *line) write(said string) string {
	v := readLine(0, "x "+said).v
	if v != v || v-v != 0 {
		return said
	}
	return l.style.format(v)
}

// growth is by how much a series grew in the seconds loaded and saturated.
func (f *Fixture) growth(l *line, grew [2]float64) float64 {
	switch m := l.motion; {
	case m == nil:
		return 0
	case l.histogram != nil:
		return l.histogram.growth(l.part, grew)
	case m.grows:
		return m.rates[0]*grew[0] + m.rates[1]*grew[1]
	case m.follows != nil:
		total := 0.0
		for _, t := range f.followed(l) {
			total += f.growth(t, grew)
		}
		return m.factor * total
	}
	return 0
}
