// Recordgate holds the recorder against a bad night with real processes and files: it
// kills `llmtop record` with SIGKILL at random moments and lets the next one go on, and
// fills a small disk under it and frees it again.
//
//	go run ./scripts/recordgate               200 kills of one file, 50 of a store, the full disk
//	go run ./scripts/recordgate -kills 20     the same, shorter
//
// The full disk is a tmpfs of 4 MB, which only root can mount; without it that part is
// left out with a word. It prints a line a part and ends with status 1 when one missed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"llmtop/scripts/internal/child"
)

func main() {
	kills := flag.Int("kills", 200, "how often the recorder is killed")
	seed := flag.Int64("seed", 1, "of the moments")
	flag.Parse()
	missed, err := gate(*kills, *seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "recordgate:", err)
		os.Exit(2)
	}
	if missed > 0 {
		fmt.Printf("%d checks missed\n", missed)
		os.Exit(1)
	}
}

// part is one check: it prints what it saw and says how much of it missed.
type part struct {
	name string
	run  func(exe, dir, url string) (missed int, err error)
}

func gate(kills int, seed int64) (missed int, err error) {
	llmtop, err := child.Build()
	if err != nil {
		return 0, err
	}
	defer llmtop.Remove()
	engine, err := llmtop.Serve()
	if err != nil {
		return 0, err
	}
	defer engine.Stop()
	dir, err := os.MkdirTemp("", "recordgate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	for _, p := range []part{
		{"kill -9, one file", killFile(kills, seed)},
		{"kill -9, a store", killStore((kills+3)/4, seed)},
		{"a full disk", fullDisk},
	} {
		sub := filepath.Join(dir, fmt.Sprint(len(p.name)))
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return missed, err
		}
		n, err := p.run(llmtop.Path, sub, engine.URL)
		if err != nil {
			return missed, fmt.Errorf("%s: %w", p.name, err)
		}
		missed += n
	}
	return missed, nil
}
