package panes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is how much of one outside string is looked at; no line is that long.
const maxText = 4096

// clean makes outside text safe and predictable for a terminal: control bytes
// (C0, C1, DEL), invalid UTF-8 and format characters (bidirectional overrides,
// joiners, tags) go, white space becomes a blank, and no more than two combining
// marks stay on a letter. Flags, skin tones and variation selectors go too:
// terminals disagree about their width. Text is drawn cell by cell, never parsed
// for tview tags, so brackets are just brackets.
func clean(s string) string {
	if _, ok := simple(s); ok {
		return s
	}
	if len(s) > maxText {
		s = s[:maxText]
	}
	var b strings.Builder
	marks := 0
	for _, r := range s {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
			marks = 2 // nothing to combine with
		case dropped(r):
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks <= 2 && b.Len() > 0 {
				b.WriteRune(r)
			}
		default:
			b.WriteRune(r)
			marks = 0
		}
	}
	return b.String()
}

func dropped(r rune) bool {
	switch {
	case r == utf8.RuneError, unicode.IsControl(r):
		return true
	case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, unicode.Variation_Selector):
		return true
	case r >= 0x1F1E6 && r <= 0x1F1FF, r >= 0x1F3FB && r <= 0x1F3FF, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return !unicode.IsPrint(r)
}

// simple reports that every character is one that needs no cleaning and takes one
// cell: ASCII, Latin-1 and the signs panes draw with. It is the usual case by far,
// and counting is all there is to do.
func simple(s string) (cells int, ok bool) {
	for _, r := range s {
		switch {
		case r >= 0x20 && r < 0x7f, r >= 0xa1 && r <= 0xff && r != 0xad:
		case r >= 0x2500 && r <= 0x259f, r >= 0x2190 && r <= 0x2193:
		case r == '–', r == '…', r == '−', r == '≈', r == '✓', r == '✗':
		default:
			return 0, false
		}
		cells++
	}
	return cells, true
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// plainer holds what an ASCII terminal shows for the signs panes draw with.
var plainer = map[rune]byte{
	'▁': '_', '▂': '_', '▃': '.', '▄': '-', '▅': '=', '▆': '+', '▇': '*', '█': '#',
	'░': '.', '▒': 'P', '▓': 'Q', '▚': 'T', '▞': 'o', '╎': ':', '─': '-', '│': '|', '·': '-',
	'…': '~', '–': '-', '—': '-', '→': '>', '↑': '^', '↓': 'v', '←': '<', '≈': '=', '×': 'x',
	'✓': '+', '✗': 'x', '●': '*', '▶': '>', '‖': '=', '°': ' ', 'µ': 'u', 'μ': 'u', 'Δ': 'd',
	'≤': '<', '≥': '>', '“': '"', '”': '"', '‘': '\'', '’': '\'', '−': '-', '⚠': '!', '±': '~',
}

// toASCII replaces every character by as many ASCII characters as it has cells.
func toASCII(s string) string {
	if ascii(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
			continue
		}
		c, known := plainer[r]
		if !known {
			c = '?'
		}
		for range width(string(r)) {
			b.WriteByte(c)
		}
	}
	return b.String()
}
