package panes

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
)

func TestLooks(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	cases := []struct {
		name string
		env  func(string) string
		want Look
	}{
		{"utf-8", env("LANG", "de_DE.UTF-8"), Look{}},
		{"utf8 spelled short", env("LC_CTYPE", "C.utf8"), Look{}},
		{"LC_ALL wins", env("LC_ALL", "C", "LANG", "de_DE.UTF-8"), Look{ASCII: true}},
		{"no locale", env(), Look{ASCII: true}},
		{"latin-1", env("LANG", "de_DE.ISO8859-1"), Look{ASCII: true}},
		{"NO_COLOR", env("LANG", "C.UTF-8", "NO_COLOR", "1"), Look{Mono: true}},
		{"NO_COLOR empty", env("LANG", "C.UTF-8", "NO_COLOR", ""), Look{}},
	}
	for _, c := range cases {
		if got := LookOf(c.env); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestMonoHasNoColour looks at every cell of a screen without colours.
func TestMonoHasNoColour(t *testing.T) {
	f := firingFrame()
	f.Look = Look{Mono: true, ASCII: true}
	r := start(t, 160, 48, &recorder{})
	p := r.show(f)
	for y := range 48 {
		for x := range 160 {
			text, style, _ := r.screen.Get(x, y)
			if fg, bg, _ := style.Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
				t.Fatalf("colour at %d,%d", x, y)
			}
			if !ascii(text) {
				t.Fatalf("%q at %d,%d is not ASCII", text, x, y)
			}
		}
	}
	if !strings.Contains(p, "DEGRADED") {
		t.Errorf("no verdict:\n%s", p)
	}
}
