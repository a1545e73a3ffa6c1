package panes

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// newScreen is a screen of cells in memory; it exists in this file only, because
// later versions of tcell have none.
func newScreen(t testing.TB, w, h int) tcell.SimulationScreen {
	t.Helper()
	s := tcell.NewSimulationScreen("UTF-8")
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	s.SetSize(w, h)
	for s.HasPendingEvent() {
		s.PollEvent() // the resize; the App starts at this size
	}
	return s
}

// picture is the screen as text; a line with styles is followed by one that
// begins with ~ and holds a letter for each styled cell.
func picture(s tcell.SimulationScreen, t theme) string {
	cells, w, h := s.GetContents()
	var b strings.Builder
	for y := range h {
		var text, style strings.Builder
		for x := 0; x < w; x++ {
			c := cells[y*w+x]
			text.WriteString(string(c.Runes))
			style.WriteByte(toneLetter(c.Style, t))
			if n := width(string(c.Runes)); n == 2 {
				style.WriteByte(' ')
				x++
			}
		}
		b.WriteString("|" + strings.TrimRight(text.String(), " ") + "\n")
		if row := strings.TrimRight(style.String(), " "); row != "" {
			b.WriteString("~" + row + "\n")
		}
	}
	return b.String()
}

// toneLetter names the first tone with the style.
func toneLetter(s tcell.Style, t theme) byte {
	for i, style := range t {
		if style == s {
			return " fosgwblIBGWTQPDr"[i]
		}
	}
	return '?'
}
