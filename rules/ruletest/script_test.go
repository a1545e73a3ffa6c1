package ruletest

import (
	"strings"
	"testing"
)

func TestValueNotation(t *testing.T) {
	for text, want := range map[string][]float64{
		"1": {1}, "1x2": {1, 1, 1}, "1+2x3": {1, 3, 5, 7}, "10-5x2": {10, 5, 0}, "-1": {-1}, "1e3x1": {1000, 1000}, "2e-3+1e-3x1": {0.002, 0.003}, "1 2x1 5": {1, 2, 2, 5},
	} {
		got, err := parseValues(strings.Fields(text))
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %v, %v", text, got, err)
			continue
		}
		for i := range want {
			if d := got[i].v - want[i]; d > 1e-12 || d < -1e-12 || got[i].missing {
				t.Errorf("%s: %v, want %v", text, got, want)
			}
		}
	}
	got, err := parseValues([]string{"_", "_x2", "1"})
	if err != nil || len(got) != 4 || !got[0].missing || !got[2].missing || got[3].missing {
		t.Errorf("%v, %v", got, err)
	}
}

func TestScriptErrorsSayWhere(t *testing.T) {
	b := book(t)
	for _, c := range []struct{ text, want string }{
		{"", "nothing is checked"},
		{"queue.deep 1\nat 0s healthy", `x:1: unknown series or word "queue.deep"`},
		{"# c\nqueue.waiting 1y\nat 0s healthy", "x:2: queue.waiting"},
		{"queue.waiting\nat 0s healthy", "x:1: queue.waiting: no values"},
		{"queue.waiting 1x99999\nat 0s healthy", "x:1:"},
		{"at soon healthy", "x:1: at soon: not a time"},
		{"at 1s fine", `x:1: unknown verb "fine"`},
		{"at 1s top", "x:1: top wants 1 words"},
		{"every fast\nat 0s healthy", "x:1: every fast"},
		{"show cards\nat 0s healthy", "x:1: show cards"},
		{"before x\nat 0s healthy", "x:1: before x"},
		{"at 100h healthy", "more than"},
		{"at 0s healthy", "x:1: at 0s healthy : diagnosed instead"},
		{"at 60s not nothing-of-the-kind\nat 60s top queue-backlog", "x:2: at 1m0s top queue-backlog: diagnosed instead:\n\tHEALTHY"},
		{"at 60s signal ttft.p95 > 5", "x:1: at 1m0s signal ttft.p95 > 5: it is 0.0"},
		{"at 60s signal gpu.power > 5", "gpu.power is missing: not seen"},
	} {
		err := Run(strings.NewReader(c.text), "x", b)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %q", c.text, err, c.want)
		}
	}
}

// FuzzScript: no script panics or runs for long.
func FuzzScript(f *testing.F) {
	f.Add("queue.waiting 0x3 1+2x4 _ _x2\nat 3s healthy")
	f.Add("show metrics\nbefore 5 tpot=1\nrequests.rate 1\nat 2s signal ttft.p50 > 1")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(strings.NewReader(text), "f")
		if err == nil && len(s.checks) == 0 {
			t.Error("a script without checks was accepted")
		}
	})
}

// BenchmarkMetricsOnly is one tick of an engine that gives nothing but its metrics page.
func BenchmarkMetricsOnly(b *testing.B) {
	s, err := parse(strings.NewReader("show metrics\nrequests.rate 20\nat 4000s healthy"), "b")
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, s)
}

// BenchmarkEverything is one tick with records, metrics, host, process and GPU.
func BenchmarkEverything(b *testing.B) {
	s, err := parse(strings.NewReader("requests.rate 20\nhost.other_cpu 1\ngpu.power 300\nat 4000s healthy"), "b")
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, s)
}
