package panes

import (
	"strings"
	"testing"

	"llmtop/probes"
)

// The class is told as soon as one of the requests is not of the usual one.
func TestRequestClasses(t *testing.T) {
	for _, c := range []struct {
		classes []string
		want    bool
	}{{[]string{"", "normal"}, false}, {[]string{"normal", "background"}, true}} {
		f := firingFrame()
		v := newView(f, 0, false)
		var running []*probes.Request
		for _, class := range c.classes {
			running = append(running, &probes.Request{ID: "r", State: "queue", Class: class, Arrived: v.at})
		}
		v.tick.Point.Requests = []*probes.Requests{{At: v.at, Running: running}}
		var text strings.Builder
		for _, r := range requestRows(v, 80) {
			text.WriteString(r.text() + "\n")
		}
		if got := strings.Contains(text.String(), "class") && strings.Contains(text.String(), "background"); got != c.want {
			t.Errorf("%q: class told %t, want %t\n%s", c.classes, got, c.want, &text)
		}
	}
}
