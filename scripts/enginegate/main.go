// Enginegate holds the engine's benchmarks against what they must reach. They are
// ratios, so that they mean the same on any machine.
//
//	go run ./scripts/enginegate              all gates
//	go run ./scripts/enginegate scheduling   scheduling and bookkeeping, share of a step's time, 256 sequences decoding
//	go run ./scripts/enginegate enqueue      queueing and unqueueing a sequence, 10 000 waiting against 10
//
// It ends with status 1 when a gate is missed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// gate is a number that must not be above its limit.
type gate struct {
	name, what string
	bench      string // regular expression of go test
	limit      float64
	value      func(results) (float64, error)
}

var gates = []gate{
	{"scheduling", "scheduling and bookkeeping, % of a step's time at 256 running", "^BenchmarkSchedulingShare$", 2,
		func(r results) (float64, error) { return r.median("BenchmarkSchedulingShare", "%scheduling") }},
	// A queue that is searched makes this hundreds; a list that misses the cache, a few.
	{"enqueue", "time to queue and unqueue at 10 000 waiting, over that at 10", "^BenchmarkEnqueue$", 5,
		func(r results) (float64, error) {
			few, err := r.median("BenchmarkEnqueue/waiting=10", "ns/op")
			many, err2 := r.median("BenchmarkEnqueue/waiting=10000", "ns/op")
			return many / few, errors.Join(err, err2)
		}},
}

func main() {
	count := flag.Int("count", 5, "runs of each benchmark; the median counts")
	flag.Parse()
	missed, err := run(flag.Args(), *count)
	if err != nil {
		fmt.Fprintln(os.Stderr, "enginegate:", err)
		os.Exit(2)
	}
	if missed > 0 {
		os.Exit(1)
	}
}

// run measures the gates named, or all.
func run(names []string, count int) (missed int, err error) {
	for _, n := range names {
		if !slices.ContainsFunc(gates, func(g gate) bool { return g.name == n }) {
			return 0, fmt.Errorf("there is no gate %q", n)
		}
	}
	for _, g := range gates {
		if len(names) > 0 && !slices.Contains(names, g.name) {
			continue
		}
		out, err := exec.Command("go", "test", "-run", "^$", "-bench", g.bench, "-count", strconv.Itoa(count), "./engine").CombinedOutput()
		if err != nil {
			return missed, fmt.Errorf("%w: %s", err, out)
		}
		value, err := g.value(parse(string(out)))
		if err != nil {
			return missed, err
		}
		word := "ok  "
		if value > g.limit {
			word = "MISS"
			missed++
		}
		fmt.Printf("%s %-70s %8.2f, at most %g\n", word, g.what, value, g.limit)
	}
	return missed, nil
}

// results are the values of benchmarks by name and unit.
type results map[string]map[string][]float64

// parse reads what go test -bench prints: a name, the number of runs, then values
// each followed by its unit.
func parse(out string) results {
	r := results{}
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := words[0]
		if i := strings.LastIndexByte(name, '-'); i > 0 { // the number of threads
			name = name[:i]
		}
		if r[name] == nil {
			r[name] = map[string][]float64{}
		}
		for i := 2; i+1 < len(words); i += 2 {
			if v, err := strconv.ParseFloat(words[i], 64); err == nil {
				r[name][words[i+1]] = append(r[name][words[i+1]], v)
			}
		}
	}
	return r
}

func (r results) median(name, unit string) (float64, error) {
	values := slices.Sorted(slices.Values(r[name][unit]))
	if len(values) == 0 {
		return 0, fmt.Errorf("%s told no %s", name, unit)
	}
	return values[len(values)/2], nil
}
