package panes

import (
	"strings"

	"github.com/rivo/uniseg"
)

// span is text of one meaning; row is a line of the screen.
type span struct {
	text string
	tone tone
}

type row []span

func (r row) add(t tone, text string) row { return append(r, span{text, t}) }

// left and right add text in a column of w cells, so that a value that changes
// its width moves nothing behind it.
func (r row) left(t tone, w int, text string) row {
	text = cut(text, w)
	return r.add(t, text+spaces(w-width(text)))
}

func (r row) right(t tone, w int, text string) row {
	text = cut(text, w)
	return r.add(t, spaces(w-width(text))+text)
}

func (r row) width() int {
	n := 0
	for _, s := range r {
		n += width(s.text)
	}
	return n
}

func (r row) text() string {
	var b strings.Builder
	for _, s := range r {
		b.WriteString(s.text)
	}
	return b.String()
}

// fit makes the row exactly w cells wide: clean text, cut with … or padded.
func (r row) fit(w int) row {
	out := make(row, 0, len(r)+1)
	left := w
	for i, s := range r {
		s.text = clean(s.text)
		n := width(s.text)
		if n > left || (n == left && !blank(r[i+1:])) {
			s.text = cut(s.text+"…", left)
			n = width(s.text)
			out, left = append(out, s), left-n
			break
		}
		out, left = append(out, s), left-n
	}
	if left > 0 {
		out = append(out, span{spaces(left), plain})
	}
	return out
}

func blank(r row) bool {
	for _, s := range r {
		if strings.TrimSpace(s.text) != "" {
			return false
		}
	}
	return true
}

// ends puts the right row flush right in w cells and cuts the left one to what
// room that leaves, but for a blank between them.
func ends(w int, left, right row) row {
	room := w - right.width()
	if room <= 0 {
		return right.fit(w)
	}
	return append(left.fit(room-1).add(plain, " "), right...)
}

// width is the number of terminal cells of clean text.
func width(s string) int {
	if cells, ok := simple(s); ok {
		return cells
	}
	return uniseg.StringWidth(s)
}

// cut shortens s to at most w cells, its last one an … when something was lost.
func cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if width(s) <= w {
		return s
	}
	var b strings.Builder
	left, state := w-1, -1
	for s != "" {
		var cluster string
		var n int
		cluster, s, n, state = uniseg.FirstGraphemeClusterInString(s, state)
		if n > left {
			break
		}
		b.WriteString(cluster)
		left -= n
	}
	return b.String() + "…"
}

// wrap breaks text at spaces into lines of at most w cells; a longer word is cut.
func wrap(text string, w int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(clean(text)) {
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= w:
			line += " " + word
		default:
			lines, line = append(lines, cut(line, w)), word
		}
	}
	if line != "" {
		lines = append(lines, cut(line, w))
	}
	return lines
}

func spaces(n int) string {
	const blanks = "                                                                                "
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// rule is a heading that reaches across the pane.
func rule(w int, title, right string) row {
	r := row{}.add(faint, "── ").add(strong, title).add(faint, " ")
	if right != "" {
		right = " " + right + " ──"
	}
	return r.add(faint, strings.Repeat("─", max(0, w-r.width()-width(right)))+right)
}
