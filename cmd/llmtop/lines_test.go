package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

func TestLinesWaitForNoReader(t *testing.T) {
	r, w := io.Pipe() // nobody reads
	l := newLines(w)
	for range 3 * waitingLines {
		l.printf("NOT RECORDING")
	}
	patience := make(chan time.Time)
	close(patience)
	l.patience = patience
	l.close()
	l.printf("too late")
	r.Close()
	<-l.done
}

func TestLinesAreWhole(t *testing.T) {
	var out bytes.Buffer
	l := newLines(&out)
	l.printf("first\x1b[2J\nof %d", 2)
	io.WriteString(l, "second\n")
	l.close()
	if got := out.String(); got != "first[2J of 2\nsecond\n" || strings.Count(got, "\n") != 2 {
		t.Errorf("%q", got)
	}
}
