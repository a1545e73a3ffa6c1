package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"text/tabwriter"

	"llmtop/engine"
)

// writeBudget shows what the engine's memory is for.
func writeBudget(w io.Writer, b engine.Budget) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, part := range []struct {
		name  string
		bytes int64
	}{
		{"weights", b.Weights}, {"KV cache", b.KVCache}, {"activations", b.Activations}, {"buffer", b.Buffer}, {"sum", b.Total},
	} {
		fmt.Fprintf(t, "%s\t%.1f MiB\t\n", part.name, float64(part.bytes)/(1<<20))
	}
	if b.Limit > 0 {
		fmt.Fprintf(t, "limit\t%.1f MiB\t (85 %% of the memory)\n", float64(b.Limit)/(1<<20))
	}
	t.Flush()
}

// keepWithin makes the garbage collector work harder before the memory exceeds
// what is planned, unless the user has set a limit by the environment.
func keepWithin(limit int64) {
	if limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}
