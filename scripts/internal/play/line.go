package play

import (
	"strconv"
	"strings"
)

// line is a line of a fixture: raw is head + value + tail. A line that is no series,
// or cannot be read as one, has no name.
type line struct {
	number            int // in the file, from 1
	raw               string
	head, value, tail string
	name              string
	labels            []label
	v                 float64 // value as a number
	style             style   // how the value is written when it moves
	whole             bool    // growth is cut to whole numbers

	family    string  // a HELP or TYPE line: the family it is about
	resets    bool    // begins again at 0 after a restart
	started   bool    // is the moment when the process began
	motion    *motion // nil: none said
	histogram *histogram
	part      part // of the histogram
}

type label struct{ name, value string }

// readLine takes a line with its line end apart.
func readLine(number int, raw string) *line {
	l := &line{number: number, raw: raw}
	text := strings.TrimLeft(strings.TrimPrefix(raw, "\ufeff"), " \t")
	if strings.HasPrefix(text, "#") {
		if words := strings.Fields(text[1:]); len(words) >= 2 && (words[0] == "HELP" || words[0] == "TYPE") {
			l.family = words[1]
		}
		return l
	}
	at := len(raw) - len(text)
	end := at + strings.IndexAny(text+" ", "{ \t\r\n")
	name := raw[at:end]
	rest := raw[end:]
	var labels []label
	if strings.HasPrefix(strings.TrimLeft(rest, " \t"), "{") {
		var ok bool
		rest = strings.TrimLeft(rest, " \t")
		if labels, rest, ok = readLabels(rest[1:]); !ok {
			return l
		}
	}
	value := strings.TrimLeft(rest, " \t")
	tail := value[strings.IndexAny(value+" ", " \t\r\n"):]
	value = value[:len(value)-len(tail)]
	v, err := strconv.ParseFloat(strings.TrimLeft(value, "+-"), 64)
	if name == "" || err != nil {
		return l
	}
	if strings.HasPrefix(value, "-") {
		v = -v
	}
	l.head, l.value, l.tail = raw[:len(raw)-len(value)-len(tail)], value, tail
	l.name, l.labels, l.v, l.whole = name, labels, v, v == float64(int64(v))
	return l
}

// readLabels reads what follows the opening brace; rest follows the closing one.
func readLabels(s string) (labels []label, rest string, ok bool) {
	for {
		s = strings.TrimLeft(s, " \t,")
		if after, closed := strings.CutPrefix(s, "}"); closed {
			return labels, after, true
		}
		name, after, found := strings.Cut(s, "=")
		after = strings.TrimLeft(after, " \t")
		if !found || !strings.HasPrefix(after, `"`) {
			return nil, "", false
		}
		end := 1
		for end < len(after) && after[end] != '"' {
			if after[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(after) {
			return nil, "", false
		}
		labels = append(labels, label{strings.TrimSpace(name), after[1:end]})
		s = after[end+1:]
	}
}

// set is the labels of a series as text, without le and in the order of names.
func (l *line) set() string {
	parts := make([]string, 0, len(l.labels))
	for _, p := range l.labels {
		if p.name != "le" {
			parts = append(parts, p.name+"="+p.value)
		}
	}
	return sorted(parts)
}

func (l *line) label(name string) (string, bool) {
	for _, p := range l.labels {
		if p.name == name {
			return p.value, true
		}
	}
	return "", false
}
