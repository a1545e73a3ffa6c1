package host

import (
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	const rest = " R 7 1 1 0 -1 4194304 900 0 77 0 1200 300 400 50 20 0 9 0 6000 123456789 2500 18446744073709551615 1 1\n"
	want := stat{state: 'R', parent: 7, majorFaults: 77, cpu: 15, reaped: 4.5, threads: 9, start: 6000, rss: 2500 * float64(os.Getpagesize())}
	if got, ok := parseStat([]byte("42 (a) D 1 (b)" + rest)); !ok || got != want {
		t.Errorf("got %+v, %v", got, ok)
	}
	if got, ok := parseStat([]byte("42 (a) R 7 1 1 0 -1 0 0 0 0 0 0 0 -1 -1 20 0 9 0 6000 0 0\n")); !ok || got.reaped != 0 {
		t.Errorf("of a negative sum: %+v, %v", got, ok)
	}
	for line, want := range map[string]string{"42 (a) D 1 (b)" + rest: "a) D 1 (b", "42 (\x1b[31m\n)" + rest: "[31m", "42 )a(": "", "": ""} {
		if got := statName([]byte(line)); got != want {
			t.Errorf("%q: the name %q, want %q", line, got, want)
		}
	}
	for _, text := range []string{"", "42", "42 )a(" + rest, "42 (a)", "42 (a) R 7 1", "42 (a) RR" + rest[2:], "42 (a) R x" + rest[4:], "42 (a) R -7" + rest[4:]} {
		if got, ok := parseStat([]byte(text)); ok {
			t.Errorf("%q passes: %+v", text, got)
		}
	}
	if !(stat{state: 'Z'}).dead() || (stat{state: 'D'}).dead() {
		t.Error("who is dead")
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("42 (a) R 7 1 1 0 -1 4194304 900 0 77 0 1200 300 0 0 20 0 9 0 6000 123456789 2500"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, ok := parseStat(text); ok && (s.cpu < 0 || s.threads < 0 || s.rss < 0) {
			t.Errorf("%q: %+v", text, s)
		}
	})
}
