package panes

import "github.com/gdamore/tcell/v2"

// tone is what a span means; the theme decides how that looks. Meaning is always
// in words or signs as well: a tone only helps the eye.
type tone uint8

const (
	plain  tone = iota
	faint       // frames, units, hints
	old         // a reading too old to stand for now
	strong      // headings and the numbers that matter
	good
	warn
	bad
	link       // sparklines and bars
	invert     // the bar at the bottom
	badInvert  // the verdict word when something is wrong
	goodInvert // the verdict word when nothing is
	warnInvert // the verdict word when nobody can tell
	inTokenize // stages in stacked bars
	inQueue    //
	inPrefill  //
	inDecode   //
	inOther    //
	numTones
)

// fills reports tones that show on a blank.
func (t tone) fills() bool { return t >= invert && t <= warnInvert }

// theme holds a style for each tone.
type theme [numTones]tcell.Style

// colourTheme uses the sixteen palette colours only, so that it follows the
// person's own scheme; blue against yellow rather than red against green where
// two states are told apart at a glance.
func colourTheme() theme {
	s := tcell.StyleDefault
	return theme{
		plain:      s,
		faint:      s.Dim(true),
		old:        s.Dim(true).Italic(true),
		strong:     s.Bold(true),
		good:       s.Foreground(tcell.ColorTeal),
		warn:       s.Foreground(tcell.ColorOlive),
		bad:        s.Foreground(tcell.ColorRed).Bold(true),
		link:       s.Foreground(tcell.ColorTeal),
		invert:     s.Reverse(true),
		badInvert:  s.Foreground(tcell.ColorWhite).Background(tcell.ColorMaroon).Bold(true),
		goodInvert: s.Foreground(tcell.ColorBlack).Background(tcell.ColorTeal).Bold(true),
		warnInvert: s.Foreground(tcell.ColorBlack).Background(tcell.ColorOlive).Bold(true),
		inTokenize: s.Foreground(tcell.ColorPurple),
		inQueue:    s.Foreground(tcell.ColorRed),
		inPrefill:  s.Foreground(tcell.ColorOlive),
		inDecode:   s.Foreground(tcell.ColorTeal),
		inOther:    s.Dim(true),
	}
}

// monoTheme has no colours.
func monoTheme() theme {
	s := tcell.StyleDefault
	return theme{
		faint:      s.Dim(true),
		old:        s.Dim(true),
		strong:     s.Bold(true),
		warn:       s.Underline(true),
		bad:        s.Bold(true).Underline(true),
		invert:     s.Reverse(true),
		badInvert:  s.Reverse(true).Bold(true),
		goodInvert: s.Bold(true),
		warnInvert: s.Reverse(true),
		inOther:    s.Dim(true),
	}
}

func themeOf(l Look) theme {
	if l.Mono {
		return monoTheme()
	}
	return colourTheme()
}
