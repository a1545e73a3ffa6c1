package rules

import "testing"

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{0, "s", "0 s"}, {0.0853, "s", "85 ms"}, {2.44, "s", "2.4 s"}, {12.6, "s", "13 s"}, {0.000234, "s", "234 µs"}, {0.0021, "s", "2.1 ms"}, {-0.5, "s", "-500 ms"}, {0.9999, "s", "1.0 s"},
		{0.91, "ratio", "91 %"}, {0.005, "ratio", "0.5 %"}, {1, "ratio", "100 %"}, {4.25, "1/s", "4.2/s"}, {0.1, "1/s", "0.10/s"},
		{3 << 30, "bytes", "3 GiB"}, {1500, "bytes", "1.5 KiB"}, {12, "bytes", "12 B"}, {3 << 20, "bytes/s", "3 MiB/s"}, {37, "count", "37"}, {64, "tokens", "64 tokens"}, {1.6, "cores", "1.6 cores"}, {650.4, "W", "650 W"}, {83, "°C", "83 °C"},
		{0.0004, "s/token", "400 µs a token"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("Format(%g, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}
