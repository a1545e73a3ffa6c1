package inject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

// logPipe is the engine's log on a pipe whose reader stops reading for a while, again and
// again: the engine, which writes each line itself (--log sync), waits when the pipe is full.
//
//	still  how long nothing is read
//	every  after so long it begins anew
type logPipe struct {
	still, every time.Duration

	pipe   *os.File
	slow   chan struct{} // closed when the reading is to be slow
	begun  bool
	cancel context.CancelFunc // nil: nothing is read
	over   chan struct{}
	full   atomic.Int64 // times that the pipe was full when the reading went on
}

func newLogPipe(with Settings) (Injector, error) {
	every, err1 := with.Duration("every", 4*time.Second, 100*time.Millisecond, time.Minute)
	still, err2 := with.Duration("still", 2*time.Second, 10*time.Millisecond, time.Minute)
	if err1 == nil && err2 == nil && still >= every {
		err2 = fmt.Errorf("still: %s is not less than every %s", still, every)
	}
	return &logPipe{still: still, every: every, slow: make(chan struct{}), over: make(chan struct{})}, errors.Join(err1, err2)
}

// pipeSize is what a pipe holds that has no room for much: a page, some dozen lines.
const pipeSize = 4096

// Prepare makes the pipe, which is read at once all the time until Start.
func (l *logPipe) Prepare(ctx context.Context, s *Site) error {
	name := filepath.Join(s.Dir, "engine.log")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		return fmt.Errorf("making a pipe for the log: %w", err)
	}
	var err error
	if l.pipe, err = os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0); err != nil { // as a writer, too, so that it does not end with an engine
		return err
	}
	if err := shrinkPipe(l.pipe); err != nil {
		return err
	}
	s.Serve = append(s.Serve[:len(s.Serve):len(s.Serve)], "--log", "sync", "--log-file", name)
	ctx, l.cancel = context.WithCancel(ctx)
	go l.read(ctx)
	return nil
}

// read reads what there is; once the reading is slow it rests before each time that it
// reads for a while.
func (l *logPipe) read(ctx context.Context) {
	defer close(l.over)
	buf := make([]byte, pipeSize)
	for {
		select {
		case <-l.slow:
			pause(ctx, l.still)
			n, err := l.pipe.Read(buf)
			if n > pipeSize*3/4 {
				l.full.Add(1)
			}
			if err == nil {
				err = l.drain(buf, l.every-l.still)
			}
			if err != nil {
				return
			}
		default:
			if err := l.drain(buf, pollPipe); err != nil {
				return
			}
		}
	}
}

// pollPipe is how often the reader looks whether it is to be slow.
const pollPipe = 50 * time.Millisecond

// drain reads for a time. The error is that of a pipe that was closed.
func (l *logPipe) drain(buf []byte, d time.Duration) error {
	if err := l.pipe.SetReadDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	for {
		if _, err := l.pipe.Read(buf); errors.Is(err, os.ErrDeadlineExceeded) {
			return l.pipe.SetReadDeadline(time.Time{})
		} else if err != nil {
			return err
		}
	}
}

func (l *logPipe) Start(context.Context, *Site) error {
	l.begun = true
	close(l.slow)
	return nil
}

// Stop ends the reading; an engine that writes then gets an error, which it counts.
func (l *logPipe) Stop() error {
	if l.cancel == nil {
		return nil
	}
	l.cancel()
	l.cancel = nil
	err := l.pipe.Close()
	<-l.over
	return err
}

// Confirm asks that the pipe was full, so that a writer had to wait.
func (l *logPipe) Confirm() error {
	if !l.begun || l.full.Load() == 0 {
		return errors.New("the pipe of the log was never full")
	}
	return nil
}
