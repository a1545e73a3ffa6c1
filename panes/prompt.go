package panes

import (
	"strings"
	"unicode"

	"github.com/gdamore/tcell/v2"
)

// prompt is the line in which a time is typed.
type prompt struct {
	text []rune
	err  string // why the last try was none
}

// longest is how much the prompt takes.
const longest = 40

func openPrompt(a *App, _ int) { a.prompt = &prompt{} }

// typed handles a key while the prompt is open. Only Ctrl-C and Ctrl-L mean what
// they do elsewhere.
func (a *App) typed(e *tcell.EventKey) {
	p := a.prompt
	switch e.Key() {
	case tcell.KeyEscape:
		a.prompt = nil
	case tcell.KeyCtrlC:
		a.Stop()
	case tcell.KeyCtrlL:
		a.resync = true
	case tcell.KeyEnter:
		a.submit()
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		p.text, p.err = p.text[:max(0, len(p.text)-1)], ""
	case tcell.KeyCtrlU:
		p.text, p.err = nil, ""
	case tcell.KeyRune:
		if r := e.Rune(); len(p.text) < longest && unicode.IsPrint(r) && e.Modifiers()&(tcell.ModCtrl|tcell.ModAlt|tcell.ModMeta) == 0 {
			p.text, p.err = append(p.text, r), ""
		}
	}
}

// submit goes to the time typed; what is none stays to be mended.
func (a *App) submit() {
	text := strings.TrimSpace(string(a.prompt.text))
	if text == "" {
		a.prompt = nil
		return
	}
	shown := a.frame.Position
	if n := len(a.frame.Ticks); n > 0 {
		shown.At = a.frame.Ticks[n-1].Point.At
	}
	if err := a.controls.GoTo(text, shown); err != nil {
		a.prompt.err = err.Error()
		return
	}
	a.prompt = nil
}

// promptRows are two lines: what can be typed, or what was wrong, and what is typed.
func promptRows(v *view, w int) []row {
	hint := row{}.add(faint, " 15:04 15:04:05 +90s -5m end-30s")
	if w >= 60 {
		hint = hint.add(faint, "  90s (from the start)  UTC")
	}
	if v.prompt.err != "" {
		hint = row{}.add(bad, " "+v.prompt.err)
	}
	line := row{}.add(strong, " go to: ").add(plain, string(v.prompt.text)).add(invert, " ")
	if w < 60 {
		return []row{hint, ends(w, line, row{}.add(faint, "Esc "))}
	}
	return []row{hint, ends(w, line, row{}.add(faint, "Enter goes  Esc closes "))}
}
