package enginelog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Timing of following a file.
const (
	pollEvery = 250 * time.Millisecond
	// perPoll is what is read of a file at most between two looks: 16 MiB/s, which the
	// filter takes about a twentieth of a core for.
	perPoll = 4 << 20
	retire  = 5 * time.Second  // how long a file that was rotated away is still read
	absent  = 10 * time.Second // how long the path may be missing before that is trouble
)

// tail follows the file at a path, as tail -F does: over rotation by rename and by
// truncation, over a path that is a link, and until there is one.
type tail struct {
	path string
	sink *sink
	anew bool // all of the file counts

	now, old *follower // old: rotated away, somebody may still write it
	oldEnd   time.Time // until when it is read
	missing  time.Time // since when nothing is at the path
}

func newTail(path string, s *sink, anew bool) *tail { return &tail{path: path, sink: s, anew: anew} }

func (t *tail) run(ctx context.Context) {
	defer t.close()
	for {
		t.poll(time.Now())
		if !pause(ctx, pollEvery) {
			return
		}
	}
}

// poll reads what is new. Which file is at the path is asked after reading, so that what
// was written just before a rotation is not lost.
func (t *tail) poll(at time.Time) {
	if t.now == nil {
		if err := t.open(); err != nil {
			t.sink.fail(err)
			return
		}
	}
	lines, skipped, err := t.now.drain(perPoll)
	if t.old != nil {
		more, left, failed := t.old.drain(perPoll)
		lines, skipped = lines+more, skipped+left
		if more > 0 {
			t.oldEnd = at.Add(retire)
		}
		if failed != nil || at.After(t.oldEnd) {
			t.old.finish()
			t.old = nil
		}
	}
	if err != nil {
		t.now.finish()
		t.now, t.anew = nil, false // what it holds has been counted
		t.sink.fail(plainError(t.path, err))
		return
	}
	t.sink.read(lines, skipped, t.rotate(at))
}

// rotate looks whether another file is at the path. While there is none the old one is read on.
func (t *tail) rotate(at time.Time) error {
	info, err := os.Stat(t.path)
	if err != nil {
		if t.missing.IsZero() {
			t.missing = at
		}
		if at.Sub(t.missing) < absent {
			return nil
		}
		return fmt.Errorf("%w; what was open is still read", plainError(t.path, err))
	}
	t.missing = time.Time{}
	here, err := t.now.file.Stat()
	if err != nil || os.SameFile(info, here) {
		return nil
	}
	f, _, err := openLog(t.path)
	if err != nil {
		return fmt.Errorf("%w; what was open is still read", err)
	}
	if t.old != nil {
		t.old.finish()
	}
	t.old, t.oldEnd = t.now, at.Add(retire)
	t.now = newFollower(f, 0, t.sink, true)
	return nil
}

func (t *tail) open() error {
	f, size, err := openLog(t.path)
	if err != nil {
		t.anew = t.anew || errors.Is(err, fs.ErrNotExist) // then what will be there is new
		return err
	}
	t.now = newFollower(f, size, t.sink, t.anew)
	return nil
}

func (t *tail) close() {
	for _, w := range []*follower{t.now, t.old} {
		if w != nil {
			_ = w.file.Close() // it was only read
		}
	}
}

// openLog opens a regular file. A FIFO is not even opened: its writer would notice, and its
// lines would be taken from whoever reads it.
func openLog(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(info.Mode())
	}
	if err != nil {
		return nil, 0, plainError(path, err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, plainError(path, err)
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(info.Mode())
	}
	if err != nil {
		_ = f.Close() // it was only looked at
		return nil, 0, plainError(path, err)
	}
	return f, info.Size(), nil
}

func notRegular(m fs.FileMode) error {
	switch {
	case m.IsDir():
		return errors.New("a directory, not a file")
	case m&fs.ModeNamedPipe != 0:
		return errors.New("a FIFO: its lines would be taken from whoever reads it")
	}
	return errors.New("not a regular file")
}

// plainError says what is wrong with a path, once.
func plainError(path string, err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("reading %s: %w", path, err)
}
