package panes

import (
	"testing"
	"time"

	"llmtop/probes"
)

func TestUnits(t *testing.T) {
	cases := []struct{ got, want string }{
		{seconds(0), "0 ms"}, {seconds(0.00042), "420 µs"}, {seconds(0.0031), "3.1 ms"}, {seconds(0.038), "38 ms"},
		{seconds(0.9994), "999 ms"}, {seconds(0.99951), "1.0 s"}, {seconds(2.41), "2.4 s"}, {seconds(140), "140 s"},
		{change(0.058, 2.408, "s"), "58 ms→2.4 s"}, {change(0.12, 2.4, "s"), "0.12→2.4 s"}, {change(0.010, 0.045, "s"), "10→45 ms"},
		{change(0.18, 0.97, "ratio"), "18→97 %"}, {change(3.1, 7.9, "1/s"), "3.1/s→7.9/s"},
		{percent(0), "0 %"}, {percent(0.001), "<1 %"}, {percent(0.914), "91 %"}, {percent(1), "100 %"},
		{count(41), "41"}, {count(3.14), "3.1"}, {count(9999), "9999"}, {count(12345), "12k"}, {count(1.25e6), "1.2M"}, {count(2.5e9), "2.5G"}, {count(0.001), "<0.01"},
		{byteSize(0), "0 B"}, {byteSize(212 << 20), "212 MiB"}, {byteSize(12.4 * (1 << 30)), "12 GiB"},
		{amount(1.755e9, "Hz"), "1.75 GHz"}, {amount(64, "°C"), "64 °C"}, {amount(2, "cores"), "2 cores"}, {amount(5, "furlongs"), "5 furlongs"},
		{ago(-time.Second), "0 s"}, {ago(14 * time.Second), "14 s"}, {ago(99400 * time.Millisecond), "99 s"}, {ago(100 * time.Second), "2 min"}, {ago(3 * time.Hour), "3 h"}, {ago(72 * time.Hour), "3 d"},
		{stopwatch(83 * time.Second), "1:23"}, {stopwatch(3*time.Hour + 62*time.Second), "3:01:02"}, {stopwatch(-time.Second), "0:00"},
		{show(probes.None[float64](probes.Unsupported), percent), "–"}, {show(probes.Some(0.0), percent), "0 %"},
	}
	for i, c := range cases {
		if c.got != c.want {
			t.Errorf("case %d: got %q, want %q", i, c.got, c.want)
		}
	}
}
