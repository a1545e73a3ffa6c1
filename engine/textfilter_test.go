package engine

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTextFilter(t *testing.T) {
	for _, c := range []struct {
		name     string
		stops    []string
		trim     bool
		pieces   []string
		complete bool
		want     string
		stopped  bool
	}{
		{"plain", nil, false, []string{"a", "b\n"}, true, "ab\n", false},
		{"trailing newline of a chat", nil, true, []string{"a\n", "b", "\n", "\n"}, true, "a\nb", false},
		{"cut off behind a newline", nil, true, []string{"a", "\n"}, false, "a\n", false},
		{"stop in one piece", []string{"ST"}, false, []string{"abSTcd"}, true, "ab", true},
		{"stop over pieces", []string{"STOP"}, false, []string{"ab S", "T", "OP", "x"}, true, "ab ", true},
		{"not quite a stop", []string{"STOP"}, false, []string{"a ST", "AR"}, true, "a STAR", false},
		{"the first of two", []string{"de", "bc"}, false, []string{"abcde"}, true, "a", true},
		{"stop begins in a false start", []string{"aab"}, false, []string{"a", "a", "a", "b"}, true, "a", true},
		{"stop behind a newline", []string{"\nQ:"}, true, []string{"yes", "\n", "Q", ":"}, true, "yes", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := textFilter{stops: c.stops, trim: c.trim}
			got, stopped := feed(&f, c.pieces)
			if !stopped {
				got += f.flush(c.complete)
			}
			if got != c.want || stopped != c.stopped {
				t.Errorf("%q, stopped %t; want %q, %t", got, stopped, c.want, c.stopped)
			}
		})
	}
}

func feed(f *textFilter, pieces []string) (text string, stopped bool) {
	for _, p := range pieces {
		sure, stopped := f.push(p)
		if text += sure; stopped {
			return text, true
		}
	}
	return text, false
}

// However a text is cut into pieces, the result is that of the whole text.
func TestTextFilterPieces(t *testing.T) {
	letters := rapid.StringMatching(`[ab\n]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(letters).Draw(t, "pieces")
		stops := rapid.SliceOfN(rapid.StringMatching(`[ab\n]{1,4}`), 0, 3).Draw(t, "stops")
		trim := rapid.Bool().Draw(t, "trim")
		f, whole := textFilter{stops: stops, trim: trim}, strings.Join(pieces, "")
		got, stopped := feed(&f, pieces)
		if !stopped {
			got += f.flush(true)
		}
		want := whole
		first := (&textFilter{stops: stops}).find(whole)
		if first >= 0 {
			// The first stop string to be complete ends the answer, in whatever order the pieces come.
			if !stopped || !strings.HasPrefix(whole, got) {
				t.Fatalf("%q, stopped %t of %q", got, stopped, whole)
			}
			for _, s := range stops {
				if strings.Contains(got, s) {
					t.Fatalf("%q still contains %q", got, s)
				}
			}
			return
		}
		if trim {
			want = strings.TrimRight(whole, "\n")
		}
		if stopped || got != want {
			t.Fatalf("%q, stopped %t; want %q", got, stopped, want)
		}
	})
}
