package model

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
)

// The goroutines that share a loop bear the labels of the step, and the next ones of
// the next.
func TestWorkersLabels(t *testing.T) {
	const threads = 3
	w := newWorkers(threads)
	defer w.close()
	for _, stage := range []string{"", "prefill", "decode", "decode"} {
		if stage != "" {
			w.labels = pprof.WithLabels(context.Background(), pprof.Labels("stage", stage))
		}
		var all sync.WaitGroup
		all.Add(threads)
		var dump bytes.Buffer
		w.run(threads, 1, func(worker, lo, hi int) {
			all.Done()
			all.Wait() // everybody has an item
			if lo == 0 {
				pprof.Lookup("goroutine").WriteTo(&dump, 1)
			}
		})
		found := 0
		for _, g := range strings.Split(dump.String(), "\n\n") {
			if strings.Contains(g, "model.(*workers).serve") {
				if found++; strings.Contains(g, `"stage":"`) != (stage != "") || !strings.Contains(g, stage) {
					t.Errorf("stage %q: %s", stage, g)
				}
			}
		}
		if found == 0 {
			t.Errorf("stage %q: no worker in %s", stage, &dump)
		}
	}
}

// BenchmarkWorkersLabels is what a loop costs that is shared out, with labels that
// never change and with others each time.
func BenchmarkWorkersLabels(b *testing.B) {
	labels := [2]context.Context{
		pprof.WithLabels(context.Background(), pprof.Labels("stage", "prefill")),
		pprof.WithLabels(context.Background(), pprof.Labels("stage", "decode")),
	}
	for name, change := range map[string]int{"same": 0, "changing": 1} {
		b.Run(name, func(b *testing.B) {
			w := newWorkers(2)
			defer w.close()
			for i := 0; b.Loop(); i++ {
				w.labels = labels[i&change]
				w.run(2, 1, func(worker, lo, hi int) {})
			}
		})
	}
}
