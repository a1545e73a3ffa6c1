package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// errRemoved is the state of a recording whose file has no name any more: what is
// written to it is gone when its writer ends.
var errRemoved = errors.New("its file was removed")

// unlinked reports whether a file that is open has no name any more.
func unlinked(f any) bool {
	c, ok := f.(*os.File)
	if !ok {
		return false
	}
	var st unix.Stat_t
	return unix.Fstat(int(c.Fd()), &st) == nil && st.Nlink == 0
}

// replace makes the recording anew when somebody removed its file, so that no more is
// lost than what was in it. Until that succeeds each sample tries again.
func (w *Writer) replace(a *appender) error {
	if w.path == "" && w.store == nil || !unlinked(a.f) {
		return nil
	}
	if w.store != nil {
		return w.replaceInStore(a)
	}
	f, err := createFile(w.path)
	if err != nil {
		return fmt.Errorf("%w: %w", errRemoved, err)
	}
	next, err := newAppender(f, a.facts)
	if err != nil {
		f.Close()
		os.Remove(w.path) // made here: without its head it is nothing yet
		return fmt.Errorf("%w: %w", errRemoved, err)
	}
	w.follow(a, next)
	return errRemoved
}

// replaceInStore makes the next file of a store, and the store when that is gone too.
func (w *Writer) replaceInStore(a *appender) error {
	s := w.store
	if err := s.renew(); err != nil {
		return fmt.Errorf("%w: %w", errRemoved, err)
	}
	s.measure() // of the others, too, some may be gone
	s.manifest.Facts = a.facts.Facts
	next, err := s.fresh(s.now(), s.current, a.since)
	if err != nil {
		return fmt.Errorf("%w: %w", errRemoved, err)
	}
	w.follow(a, next)
	return errRemoved
}

// renew makes the directory and its lock again if they were removed.
func (s *store) renew() error {
	if err := makeStoreDir(s.dir); err != nil {
		return err
	}
	held, err := s.lock.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Lstat(filepath.Join(s.dir, lockName)); err == nil && os.SameFile(held, now) {
		return nil
	}
	lock, err := lockStore(s.dir)
	if err != nil {
		return err
	}
	s.lock.Close()
	s.lock = lock
	return nil
}

// follow goes on in the file of next, with the gap that is not told yet; that of a is
// synced and closed behind.
func (w *Writer) follow(a, next *appender) {
	next.gap, next.since = a.gap, a.since
	w.syncs <- request{f: a.f, close: true}
	*a = *next
}
