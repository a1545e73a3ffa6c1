package panes

import "strings"

// Plain is the frame as plain text of at most height lines of at most width
// cells: the panes of the screen without colours or control bytes, trailing
// blanks cut. Sizes ≤ 0 mean 80x24.
func Plain(f Frame, width, height int) string {
	var b strings.Builder
	for _, r := range compose(newView(f, 0, false), width, height) {
		text := r.text()
		if f.Look.ASCII {
			text = toASCII(text)
		}
		b.WriteString(strings.TrimRight(text, " "))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
