package probes

import (
	"slices"
	"testing"
	"time"
)

// story feeds a watcher samples a second apart and returns what it says, with the second.
func story(seconds int, at func(second int, s *Sample)) (out []string) {
	var w Watcher
	for i := range seconds {
		s := &Sample{At: sec(float64(i)), Mono: time.Duration(i) * time.Second}
		at(i, s)
		for _, e := range w.Events(s) {
			out = append(out, e.At.Sub(sec(0)).String()+" "+e.Kind+" "+e.Text)
		}
	}
	return out
}

func TestProbeErrorsBeginAndEnd(t *testing.T) {
	got := story(60, func(i int, s *Sample) {
		err := ""
		if i == 5 || i == 9 || i == 12 { // it flickers: one trouble
			err = "refused"
		}
		s.Probes = []ProbeStatus{{Name: "scrape", Err: err}, {Name: "host"}, {Name: "profile", Err: "not exposed", Lacks: true}}
	})
	want := []string{"5s probe-error probe scrape: refused", "22s probe-error probe scrape: over, after 7 s"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
