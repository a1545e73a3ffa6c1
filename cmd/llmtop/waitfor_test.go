package main

import (
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"llmtop/probes/record"
)

// waitForWriter is `waitfor FILE`: until another process has begun to go on with a
// recording that was closed.
func waitForWriter(ts *testscript.TestScript, _ bool, args []string) {
	for range 1000 {
		r, err := record.Open(ts.MkAbs(args[0]))
		ts.Check(err)
		closed := r.Info().CleanClose
		ts.Check(r.Close())
		if !closed {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	ts.Fatalf("nobody writes %s", args[0])
}
