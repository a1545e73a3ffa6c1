package play

import (
	"fmt"
	"slices"
	"strings"
)

// bind gives the lines their types, number styles and motions. Errors begin with
// the line's number.
func (f *Fixture) bind(said []saying) error {
	types := f.types()
	for _, l := range f.lines {
		l.resets, l.started = resets(l.name, types), begins(l.name)
	}
	f.styles()
	if err := f.motions(said, types); err != nil {
		return err
	}
	return f.checkFollows()
}

// types are the TYPE lines of the page; the first of a family counts.
func (f *Fixture) types() map[string]string {
	types := map[string]string{}
	for _, l := range f.lines {
		words := strings.Fields(strings.TrimLeft(l.raw, " \t#"))
		if l.family != "" && len(words) >= 3 && words[0] == "TYPE" {
			if _, known := types[l.family]; !known {
				types[l.family] = words[2]
			}
		}
	}
	return types
}

// endings of a series below the name of its family.
var endings = []string{"", "_bucket", "_count", "_sum", "_total", "_info"}

// resets reports whether a series is counted from the process's beginning.
func resets(name string, types map[string]string) bool {
	for _, end := range endings {
		if stem, ok := cut(name, end); ok {
			switch types[stem] {
			case "counter", "histogram", "summary":
				return true
			}
		}
	}
	return false
}

// begins reports whether a name stands for the moment when the process began.
func begins(name string) bool {
	return strings.HasSuffix(name, "process_start_time_seconds") || strings.HasSuffix(name, "_created")
}

// styles finds out how each line writes numbers, where no numbers line says it: as
// its family does, else as the page does.
func (f *Fixture) styles() {
	byFamily := map[string]style{}
	page := style{name: "plain"}
	for _, l := range f.lines {
		switch s := guess(l.value); {
		case l.name == "":
		case s.name == "python", s.name == "go" && byFamily[stem(l.name)].name == "":
			byFamily[stem(l.name)] = s
			if page.name != "python" {
				page = s
			}
		case page.name == "plain" && exponent.MatchString(l.value):
			page = style{name: "go"}
		}
	}
	for _, l := range f.lines {
		if l.style.name == "" {
			l.style = byFamily[stem(l.name)]
		}
		if l.style.name == "" {
			l.style = page
		}
	}
}

// stem is a series' name without the ending that histograms and counters add.
func stem(name string) string {
	for _, end := range endings[1:] {
		if s, ok := cut(name, end); ok {
			return s
		}
	}
	return name
}

// motions binds families first, then single lines, which take precedence.
func (f *Fixture) motions(said []saying, types map[string]string) error {
	for _, family := range []bool{true, false} {
		for _, s := range said {
			if (f.lines[s.at].family != "") != family {
				continue
			}
			targets := f.targets(s.at, types)
			if len(targets) == 0 {
				return fmt.Errorf("%d: no series of %s follows the directive", s.motion.number, f.lines[s.at].family)
			}
			if err := f.give(s.motion, targets, types); err != nil {
				return fmt.Errorf("%d: %w", s.motion.number, err)
			}
		}
	}
	return nil
}

// targets are the lines that a directive before line at is about.
func (f *Fixture) targets(at int, types map[string]string) []*line {
	first := f.lines[at]
	if first.family == "" {
		base, _, ok := partOf(first)
		if !ok || types[base] != "histogram" {
			return []*line{first}
		}
		return slices.DeleteFunc(family(base, f.lines, true), func(l *line) bool { return l.set() != first.set() })
	}
	return family(first.family, f.lines[at:], false)
}

// family are the first series of a family that follow each other, after others when
// search is set.
func family(name string, lines []*line, search bool) []*line {
	var out []*line
	for _, l := range lines {
		mine := l.name != "" && slices.ContainsFunc(endings, func(end string) bool { return l.name == name+end })
		switch {
		case mine:
			out = append(out, l)
		case l.name == "" && (l.family == "" || l.family == name):
		case l.name == name+"_created": // OpenMetrics has it in the family
		case len(out) > 0 || !search:
			return out
		}
	}
	return out
}

// give sets the motion of the targets.
func (f *Fixture) give(m *motion, targets []*line, types map[string]string) error {
	sets := map[string]*histogram{}
	for _, l := range targets {
		base, p, ok := partOf(l)
		ok = ok && types[base] == "histogram"
		switch {
		case m.observe && !ok:
			return fmt.Errorf("%s (line %d) is no part of a histogram", l.name, l.number)
		case ok && (m.grows || m.follows != nil || m.started || len(m.values) > 0 && !m.onlyAbsent()):
			return fmt.Errorf("%s (line %d) is part of a histogram: say histogram R/s around MEAN", l.name, l.number)
		}
		l.motion, l.histogram = m, nil
		l.resets = l.resets || m.grows || m.follows != nil
		l.started = l.started || m.started
		if m.observe {
			key := base + "\x00" + l.set()
			if sets[key] == nil {
				sets[key] = &histogram{pattern: m.pattern}
			}
			sets[key].lines = append(sets[key].lines, l)
			l.histogram, l.part, l.whole = sets[key], p, false
		}
	}
	for _, h := range sets {
		if err := h.check(); err != nil {
			return err
		}
	}
	return nil
}

func (m *motion) onlyAbsent() bool {
	for _, v := range m.values {
		if v != absent {
			return false
		}
	}
	return true
}

// checkFollows makes sure that what is followed is there and moves by itself.
func (f *Fixture) checkFollows() error {
	for _, l := range f.lines {
		if l.motion == nil || l.motion.follows == nil {
			continue
		}
		found := f.followed(l)
		if len(found) == 0 {
			return fmt.Errorf("%d: there is no series %s to follow", l.motion.number, l.motion.follows.name)
		}
		for _, t := range found {
			if t.motion == nil || !t.motion.grows && t.histogram == nil {
				return fmt.Errorf("%d: %s (line %d) does not move by itself, it cannot be followed", l.motion.number, t.name, t.number)
			}
		}
	}
	return nil
}

// followed are the series whose growth goes into l's.
func (f *Fixture) followed(l *line) []*line {
	s := l.motion.follows
	var all []*line
	for _, t := range f.lines {
		if t.name != s.name || !hasAll(t, s.labels) {
			continue
		}
		if len(s.labels) == 0 && t.set() == l.set() && t.part.kind != bucket {
			return []*line{t}
		}
		all = append(all, t)
	}
	return all
}

func hasAll(l *line, labels []label) bool {
	for _, want := range labels {
		if v, ok := l.label(want.name); !ok || v != want.value {
			return false
		}
	}
	return true
}
