package main

import (
	"io"
	"testing"
)

// BenchmarkFirstFrame is the time from the start of the process until the first frame
// is on the terminal, with no engine reachable:
//
//	go test -run none -bench FirstFrame ./cmd/llmtop
func BenchmarkFirstFrame(b *testing.B) {
	for name, args := range map[string][]string{"search": nil, "refused": {"http://127.0.0.1:1"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				o := startOnTerminal(b, 80, 24, args...)
				o.waitFor(b, "no engine")
				b.StopTimer()
				io.WriteString(o.tty, "q")
				o.waitEnd(b)
				b.StartTimer()
			}
		})
	}
}
