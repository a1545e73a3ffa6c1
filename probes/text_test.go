package probes

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	cases := []struct {
		name, in, want string
		limit          int
	}{
		{"plain", "vllm:num_requests_running", "vllm:num_requests_running", 100},
		{"tview tags stay data", "[red]alarm[-]", "[red]alarm[-]", 100},
		{"escape sequence", "a\x1b[31mb\x1b]0;title\x07c", "a[31mb]0;titlec", 100},
		{"C1 and DEL", "a\u009b31mb\x7f", "a31mb", 100},
		{"line ends and tabs", " one\r\n\ttwo  three\n", "one two three", 100},
		{"right to left override", "a\u202egpj.exe", "agpj.exe", 100},
		{"zero width", "a\u200bb\ufeff", "ab", 100},
		{"invalid UTF-8", "a\xffb", "a\ufffdb", 100},
		{"long", "0123456789abc", "0123456789…", 10},
		{"long, a blank at the limit", "012345678 abc", "012345678…", 10},
		{"long, wide", strings.Repeat("é", 6), "ééééé…", 10},
	}
	for _, c := range cases {
		if got := Printable(c.in, c.limit); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"", "a b", "000\xd8\xe8\xd7\xe9\xd50\x8e0\xa1\xec\xf7 0", "\x1b[2J", "\u202e", "\xc3\x28", strings.Repeat("é", 40)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Printable(s, 32)
		if len(got) > 32+len("…") || !utf8.ValidString(got) {
			t.Fatalf("%q → %q", s, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%q → %q holds %U", s, got, r)
			}
		}
		if again := Printable(got, 64); again != got {
			t.Fatalf("%q → %q → %q", s, got, again)
		}
	})
}
