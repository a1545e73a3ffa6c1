// Gpugate plays faults of GPUs to the real llmtop, in real time: it builds the fake NVML
// of testdata/fakenvml and looks whether each fault is in the samples that `llmtop record`
// writes, in the frame that `llmtop --once` prints (80 and 140 columns wide), and in what
// `llmtop doctor` says.
//
//	go run ./scripts/gpugate                        all of it, some three minutes
//	go run ./scripts/gpugate -only lost,thermal     these, by name
//	go run ./scripts/gpugate -hang 10s              the same, with a shorter hang
//
// Last one of eight GPUs hangs for a minute: the other seven must have a fresh reading in
// every sample (on a machine so busy that reads are late anyhow, in as many as without a
// hang), and the eighth must be told as stale, and be back afterwards. It prints a line a
// fault and ends with status 1 when one is missed somewhere. It needs a C compiler.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"llmtop/scripts/internal/child"
)

func main() {
	only := flag.String("only", "", "names of faults, with commas between; empty: all")
	hang := flag.Duration("hang", time.Minute, "how long one of eight GPUs hangs")
	keep := flag.String("keep", "", "a new directory for what is recorded and printed; empty: nothing is kept")
	flag.Parse()
	var names []string
	if *only != "" {
		names = strings.Split(*only, ",")
	}
	missed, err := gate(names, *hang, *keep)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpugate:", err)
		os.Exit(2)
	}
	if missed > 0 {
		fmt.Printf("%d faults missed\n", missed)
		os.Exit(1)
	}
}

func gate(names []string, hang time.Duration, keep string) (missed int, err error) {
	dir := keep
	switch {
	case keep == "":
		if dir, err = os.MkdirTemp("", "gpugate"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
	default:
		if err := os.Mkdir(keep, 0o755); err != nil { // a recording that is there would be gone on with
			return 0, err
		}
	}
	libraries, err := buildFakes(filepath.Join(dir, "lib"))
	if err != nil {
		return 0, err
	}
	llmtop, err := child.Build()
	if err != nil {
		return 0, err
	}
	defer llmtop.Remove()
	engine, err := llmtop.Serve("--threads", "1")
	if err != nil {
		return 0, err
	}
	defer engine.Stop()
	b := bench{exe: llmtop.Path, url: engine.URL, libraries: libraries, dir: dir}
	wanted := func(name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	missed, err = b.tryAll(slices.DeleteFunc(faults(), func(f fault) bool { return !wanted(f.name) }))
	if err != nil {
		return missed, err
	}
	if wanted("hang") {
		n, err := b.hang(hang)
		if err != nil {
			return missed, fmt.Errorf("hang: %w", err)
		}
		missed += n
	}
	return missed, nil
}

// tryAll plays the faults, a few at a time: each takes a recording's length and little CPU.
func (b *bench) tryAll(list []fault) (missed int, err error) {
	const atOnce = 3
	places := make(chan struct{}, atOnce)
	counts, errs := make([]int, len(list)), make([]error, len(list))
	var all sync.WaitGroup
	for i, f := range list {
		places <- struct{}{}
		all.Go(func() {
			counts[i], errs[i] = b.try(f)
			<-places
		})
	}
	all.Wait()
	for i, f := range list {
		missed += counts[i]
		if errs[i] != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", f.name, errs[i]))
		}
	}
	return missed, err
}

// verdict prints the line of a fault: ok with what was seen, or what was missed.
func verdict(name string, seen, missed []string) int {
	if len(missed) == 0 {
		fmt.Printf("ok      %-15s %s\n", name, strings.Join(seen, "; "))
		return 0
	}
	fmt.Printf("MISSED  %-15s %s\n", name, strings.Join(missed, "; "))
	return 1
}
