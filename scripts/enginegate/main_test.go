package main

import "testing"

func TestMedianOfBenchmarks(t *testing.T) {
	r := parse(`goos: linux
cpu: some cpu-like thing
BenchmarkEnqueue/waiting=10-2          100   20.0 ns/op     0 B/op
BenchmarkEnqueue/waiting=10000-2       100   90.0 ns/op     0 B/op
BenchmarkEnqueue/waiting=10-2          100   30.0 ns/op     0 B/op
BenchmarkEnqueue/waiting=10000-2       100   60.0 ns/op     0 B/op
BenchmarkEnqueue/waiting=10-2          100   10.0 ns/op     0 B/op
BenchmarkEnqueue/waiting=10000-2       100   80.0 ns/op     0 B/op
BenchmarkSchedulingShare-2             1     5e9 ns/op      1.25 %scheduling
PASS
`)
	for i, want := range []float64{1.25, 4} {
		if got, err := gates[i].value(r); err != nil || got != want {
			t.Errorf("%s: %g, %v; want %g", gates[i].name, got, err, want)
		}
		if _, err := gates[i].value(parse("PASS\n")); err == nil {
			t.Errorf("%s: no error without results", gates[i].name)
		}
	}
}
