package engine

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of the asynchronous log.
const (
	logLines     = 4096            // that may wait to be written
	closeTimeout = 2 * time.Second // for writing them at the end
)

// lineWriter passes lines on to a writer that may hang, from a goroutine of its
// own. Write never waits: what does not fit is dropped and counted.
type lineWriter struct {
	out     io.Writer
	lines   chan []byte
	dropped *atomic.Int64
	over    chan struct{} // closed when the goroutine has ended

	mu     sync.RWMutex // a reader sends on lines, the writer closes it
	closed bool
}

func newLineWriter(out io.Writer, dropped *atomic.Int64) *lineWriter {
	w := &lineWriter{out: out, lines: make(chan []byte, logLines), dropped: dropped, over: make(chan struct{})}
	go w.run()
	return w
}

func (w *lineWriter) run() {
	defer close(w.over)
	labelLog.set()
	for line := range w.lines {
		if _, err := w.out.Write(line); err != nil {
			w.dropped.Add(1)
		}
	}
}

// Write takes a line, or drops it when too many wait; the line is the caller's again.
func (w *lineWriter) Write(line []byte) (int, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	own := append(make([]byte, 0, len(line)), line...)
	if w.closed {
		w.dropped.Add(1)
		return len(line), nil
	}
	select {
	case w.lines <- own:
	default:
		w.dropped.Add(1)
	}
	return len(line), nil
}

// Close writes what waits. A writer that hangs is left behind after a while.
func (w *lineWriter) Close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.lines)
	}
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	select {
	case <-w.over:
		return nil
	case <-ctx.Done():
		return errors.New("the log cannot be written: its reader hangs")
	}
}

// countingWriter counts the lines that could not be written.
type countingWriter struct {
	out     io.Writer
	dropped *atomic.Int64
}

func (w countingWriter) Write(line []byte) (int, error) {
	if _, err := w.out.Write(line); err != nil {
		w.dropped.Add(1)
	}
	return len(line), nil
}
