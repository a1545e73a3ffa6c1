package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// lines writes whole lines from several goroutines, and waits for no reader: a recorder
// goes on when nobody reads what it says. Lines that nobody takes for a while are dropped.
type lines struct {
	mu     sync.Mutex
	closed bool
	queue  chan []byte
	done   chan struct{}

	patience <-chan time.Time // when close gives up; nil: after readerPatience
}

// What waits for a reader of the lines, and how long at the end.
const (
	waitingLines   = 256
	readerPatience = time.Second
)

func newLines(out io.Writer) *lines {
	l := &lines{queue: make(chan []byte, waitingLines), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for b := range l.queue {
			out.Write(b) // whether it can be said changes nothing
		}
	}()
	return l
}

// Write takes what is a line, or some. It never fails.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return len(b), nil
	}
	select {
	case l.queue <- append([]byte(nil), b...):
	default:
	}
	return len(b), nil
}

func (l *lines) printf(format string, a ...any) {
	fmt.Fprintln(l, oneLine(fmt.Sprintf(format, a...)))
}

// close waits until all is written, or nobody reads it.
func (l *lines) close() {
	l.mu.Lock()
	l.closed = true
	close(l.queue)
	l.mu.Unlock()
	patience := l.patience
	if patience == nil {
		t := time.NewTimer(readerPatience)
		defer t.Stop()
		patience = t.C
	}
	select {
	case <-l.done:
	case <-patience:
	}
}

// spareSIGPIPE makes writing to a pipe whose reader is gone an error instead of the end,
// until stop is called: `llmtop record 2>&1 | tee log` outlives tee.
func spareSIGPIPE() (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}
