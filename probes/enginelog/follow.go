package enginelog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"
)

// Bounds of reading a file.
const (
	lookBack = 256 << 10 // of what was there before: enough for the last lines of each kind
	piece    = 64 << 10  // read at once
	marked   = 32        // bytes before the place reached, by which a rewritten file is told
)

// follower reads a file that grows, from a place in it on.
type follower struct {
	file    *os.File
	offset  int64
	mark    []byte    // the last bytes before offset
	written time.Time // when the file was last written, as of the last look
	lines   splitter
	before  int64 // up to where lines were there when reading began
	sink    *sink
	buffer  []byte
}

// newFollower goes on at the file's end, after looking back, or with anew at its beginning.
func newFollower(f *os.File, size int64, s *sink, anew bool) *follower {
	w := &follower{file: f, sink: s, buffer: make([]byte, piece)}
	w.lines.line = func(line []byte) { s.line(line, w.offset < w.before) }
	if !anew {
		w.before = size
		if w.offset = max(0, size-lookBack); w.offset > 0 {
			w.lines.drop() // most likely in the middle of a line
		}
	}
	return w
}

// drain reads what there is, budget bytes at most. Of more than that it reads pieces that
// are spread evenly over it, and leaves out what lies between them. It returns what was
// counted of lines and of bytes left out.
func (w *follower) drain(budget int64) (lines, skipped int, err error) {
	info, err := w.file.Stat()
	if err != nil {
		return 0, 0, err
	}
	size := info.Size()
	if w.rewritten(size, info.ModTime()) {
		w.restart()
	}
	w.written = info.ModTime()
	gap := int64(0) // after each piece
	if behind := size - w.offset; behind > budget {
		gap = behind/max(1, budget/piece) - piece + 1
	}
	wasBefore := w.offset < w.before
	for end := size; w.offset < end; {
		n, err := w.file.ReadAt(w.buffer[:min(piece, end-w.offset)], w.offset)
		w.take(w.buffer[:n])
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return w.counted(wasBefore, skipped, err)
		}
		if next := min(w.offset+gap, end-piece); next > w.offset {
			w.lines.drop()
			skipped += int(next - w.offset)
			w.offset, w.mark = next, nil
		}
	}
	return w.counted(wasBefore, skipped, nil)
}

// take passes a piece on, and cuts it where what was there before ends.
func (w *follower) take(b []byte) {
	if rest := w.before - w.offset; rest > 0 && int64(len(b)) >= rest {
		w.lines.feed(b[:rest])
		w.offset += rest
		w.remember(b[:rest])
		b = b[rest:]
	}
	if len(b) > 0 {
		w.lines.feed(b)
		w.offset += int64(len(b))
		w.remember(b)
	}
}

func (w *follower) counted(wasBefore bool, skipped int, err error) (int, int, error) {
	if errors.Is(err, io.EOF) {
		err = nil
	}
	lines, more := w.lines.take()
	if wasBefore { // those were there when reading began
		return 0, 0, err
	}
	return lines, skipped + more, err
}

// remember keeps the last bytes that were read.
func (w *follower) remember(b []byte) {
	if len(b) > marked {
		w.mark = w.mark[:0]
		b = b[len(b)-marked:]
	}
	w.mark = append(w.mark, b...)
	if extra := len(w.mark) - marked; extra > 0 {
		w.mark = append(w.mark[:0], w.mark[extra:]...)
	}
}

// rewritten reports a file that holds something else before offset than it did: it was
// copied away and truncated, whether or not it has grown to offset since, or past it.
func (w *follower) rewritten(size int64, written time.Time) bool {
	if size < w.offset {
		return true
	}
	if len(w.mark) == 0 || size == w.offset && written.Equal(w.written) {
		return false
	}
	now := make([]byte, len(w.mark))
	n, err := w.file.ReadAt(now, w.offset-int64(len(w.mark)))
	return n == len(now) && (err == nil || errors.Is(err, io.EOF)) && !bytes.Equal(now, w.mark)
}

// restart goes back to the beginning, or to the first data where a writer that kept its
// place left a hole there.
func (w *follower) restart() {
	w.lines.flush()
	w.offset, w.before, w.mark = 0, 0, nil
	if data, err := w.file.Seek(0, seekData); err == nil {
		w.offset = data
	}
}

// finish takes the last line of a file that nobody writes any more, and closes it.
func (w *follower) finish() {
	w.lines.flush()
	_ = w.file.Close() // it was only read
}
