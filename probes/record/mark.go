package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Errors of AddMark about its text.
var (
	ErrMarkEmpty = errors.New("a mark needs a text")
	ErrMarkLong  = fmt.Errorf("the text of a mark has at most %d bytes", MaxMarkText)
)

// AddMark sets a mark in the recording, or the store, at path. One that nobody is
// writing gets it at its end, with an index; nothing in it is overwritten. Otherwise
// it waits in the file that where names, for the writer to take it in within a second
// or two; where is "" when the mark is in the recording. A file of an older format
// keeps its marks beside it too.
func AddMark(path string, at time.Time, text string) (where string, err error) {
	m := Mark{At: at.UTC().Round(0), Text: strings.TrimSpace(clean(text))}
	switch {
	case !fitsNano(at):
		return "", errTime
	case m.Text == "":
		return "", ErrMarkEmpty
	case len(m.Text) > MaxMarkText:
		return "", ErrMarkLong
	}
	spool := spoolOf(path, false)
	mark := markFile
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		spool, mark = spoolOf(path, true), markStore
	}
	err = mark(path, m)
	if errors.Is(err, ErrBusy) || errors.Is(err, ErrOtherFormat) {
		return spool, addToSpool(spool, m)
	}
	return "", err
}

// markFile appends a mark to a recording that nobody writes.
func markFile(path string, m Mark) error {
	f, c, err := openAppend(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.size == 0 {
		return fmt.Errorf("%s: %w", path, ErrEmpty)
	}
	if c.torn > 0 {
		if err := f.Truncate(c.size); err != nil {
			return fmt.Errorf("marking %s: %w", path, err)
		}
	}
	a, err := bareAppender(f)
	if err != nil {
		return err
	}
	a.size, a.index = c.size, c.index
	if err := a.write(item{mark: &m}); err != nil {
		return fmt.Errorf("marking %s: %w", path, err)
	}
	if err := a.end(); err != nil {
		return fmt.Errorf("marking %s: %w", path, err)
	}
	return f.Sync()
}

// markStore puts a mark into that file of a store that was written at its time.
func markStore(dir string, m Mark) error {
	names, err := storeNames(dir)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("%s holds no recordings of a store: %w", dir, ErrNotRecording)
	}
	lock, err := lockStore(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	r, err := Open(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, names[len(names)-1])
	if r.Len() > 0 {
		path = r.partAt(m.At.UnixNano()).path
	}
	r.Close()
	return markFile(path, m)
}
