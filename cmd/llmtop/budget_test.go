package main

import (
	"strings"
	"testing"

	"llmtop/engine"
)

func TestWriteBudget(t *testing.T) {
	var b strings.Builder
	writeBudget(&b, engine.Budget{Weights: 3 << 20, KVCache: 24 << 20, Activations: 512 << 10, Buffer: 128 << 20, Total: 155<<20 + 512<<10, Limit: 850 << 20})
	want := `      weights    3.0 MiB
     KV cache   24.0 MiB
  activations    0.5 MiB
       buffer  128.0 MiB
          sum  155.5 MiB
        limit  850.0 MiB (85 % of the memory)
`
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
	b.Reset()
	if writeBudget(&b, engine.Budget{Total: 1}); strings.Contains(b.String(), "limit") {
		t.Errorf("a limit where none is known:\n%s", b.String())
	}
}
