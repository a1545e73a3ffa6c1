package scrape

import (
	"slices"
	"strings"
	"unicode/utf8"

	"llmtop/probes"
)

// plain takes a series' name and labels apart when they are written as exporters
// write them: name{label="value",label="value"}, no blanks and no escapes. It is nil
// for all else, which is left to expfmt, and says the same where it says something.
// Names and values are parts of text.
func plain(text string) *identity {
	if !utf8.ValidString(text) {
		return nil
	}
	name, rest, braces := strings.Cut(text, "{")
	if len(name) > maxNameBytes || !isName(name, true) {
		return nil
	}
	id := &identity{text: text, name: name}
	if !braces {
		return id
	}
	id.labels = make([]probes.Label, 0, strings.Count(rest, `="`))
	for {
		label, value, after, ok := plainLabel(rest)
		if !ok || len(id.labels) == maxLabels || id.has(label) {
			return nil
		}
		id.labels = append(id.labels, probes.Label{Name: label, Value: probes.Printable(value, maxLabelBytes)})
		if after == "}" {
			break
		}
		if after == "" || after[0] != ',' {
			return nil
		}
		rest = after[1:]
	}
	if !slices.IsSortedFunc(id.labels, byName) {
		slices.SortFunc(id.labels, byName)
	}
	return id
}

// plainLabel cuts label="value" off.
func plainLabel(s string) (label, value, rest string, ok bool) {
	label, rest, ok = strings.Cut(s, `="`)
	if !ok || !isName(label, false) || label == "__name__" {
		return "", "", "", false
	}
	end := strings.IndexByte(rest, '"')
	if end < 0 || strings.IndexByte(rest[:end], '\\') >= 0 {
		return "", "", "", false
	}
	return label, rest[:end], rest[end+1:], true
}

func (id *identity) has(label string) bool {
	return slices.ContainsFunc(id.labels, func(l probes.Label) bool { return l.Name == label })
}

func byName(a, b probes.Label) int { return strings.Compare(a.Name, b.Name) }

// isName reports whether s is the name of a label, or of a metric, which may have colons.
func isName(s string, metric bool) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == ':' && metric:
		case c >= '0' && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return s != ""
}
