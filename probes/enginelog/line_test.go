package enginelog

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// split feeds a text in pieces of n bytes.
func split(text string, n int) (lines []string, s *splitter) {
	s = &splitter{line: func(line []byte) { lines = append(lines, string(line)) }}
	for piece := range slices.Chunk([]byte(text), n) {
		s.feed(piece)
	}
	return lines, s
}

func TestSplitter(t *testing.T) {
	long := strings.Repeat("x", maxLine+100)
	for _, c := range []struct {
		name, text     string
		want           []string
		lines, skipped int
	}{
		{"lines", "a\nbc\n", []string{"a", "bc"}, 2, 0},
		{"the last one has no end", "a\nbc", []string{"a"}, 1, 0},
		{"empty lines", "\n\n", nil, 2, 0},
		{"too long", long + "\nb\n", []string{long[:maxLine], "b"}, 2, 100},
		{"no end for ever", long + long, []string{long[:maxLine]}, 0, 2*len(long) - maxLine},
		{"NUL and binary", "a\x00\xff\nb\n", []string{"a\x00\xff", "b"}, 2, 0},
	} {
		for _, n := range []int{1, 7, 4096, 1 << 20} {
			got, s := split(c.text, n)
			got = slices.DeleteFunc(got, func(s string) bool { return s == "" })
			lines, skipped := s.take()
			if !slices.Equal(got, c.want) || lines != c.lines || skipped != c.skipped {
				t.Errorf("%s in pieces of %d: %d lines, %d skipped, %.60q; want %d, %d", c.name, n, lines, skipped, got, c.lines, c.skipped)
			}
		}
	}
}

// TestSplitterDropsWhatIsCut: after a leap the line in hand and the one leapt into are gone.
func TestSplitterDropsWhatIsCut(t *testing.T) {
	var got []string
	s := &splitter{line: func(line []byte) { got = append(got, string(line)) }}
	s.feed([]byte("whole\nhalf of"))
	s.drop()
	s.feed([]byte("rest of another\nnext\n"))
	lines, skipped := s.take()
	if want := []string{"whole", "next"}; !slices.Equal(got, want) || lines != 3 || skipped != len("half of")+len("rest of another") {
		t.Errorf("got %q, %d lines, %d bytes skipped", got, lines, skipped)
	}
}

// FuzzSplitter: however a text is cut into pieces, the lines are the same, and short.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte("a\r\nb\n\nc"), 3)
	f.Fuzz(func(t *testing.T, text []byte, n int) {
		if n < 1 || n > 1<<20 {
			return
		}
		pieces, one := split(string(text), n)
		whole, other := split(string(text), len(text)+1)
		if !slices.Equal(slices.DeleteFunc(pieces, isEmpty), slices.DeleteFunc(whole, isEmpty)) || one.skipped != other.skipped || one.lines != bytes.Count(text, []byte("\n")) {
			t.Errorf("pieces of %d give %q, the whole gives %q", n, pieces, whole)
		}
	})
}

func isEmpty(s string) bool { return s == "" }
