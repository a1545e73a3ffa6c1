package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"llmtop/probes"
)

// StoreOptions bound a store; 0 is no bound.
type StoreOptions struct {
	Retain     time.Duration // a file is dropped when it was last written longer ago
	MaxBytes   int64         // on disk, all files together; the oldest are dropped
	FileLength time.Duration // of recorded time; then the next file begins
}

// fileParts is how many files a store of MaxBytes has at least, so that dropping one
// drops a small part.
const fileParts = 8

// store is the directory in which a Writer rotates. The goroutine that writes owns it.
type store struct {
	dir      string
	options  StoreOptions
	manifest Manifest
	lock     *os.File
	now      func() time.Time
	create   func(path string) (file, error)

	current string    // name of the file in use
	began   time.Time // of its first sample; zero: none yet
	kept    []keptFile
	usage   int64 // bytes on disk of kept
}

// OpenStore begins to record in a directory of files (made if it is not there, for this
// user alone), bounded by o. It goes on with the newest file when that is young and
// small enough. A second writer is refused, naming the first. Only recordings that are
// named like a store's files are ever removed.
func OpenStore(dir string, m Manifest, o StoreOptions) (*Writer, error) {
	return openStoreWriter(dir, m, o, time.Now, options{path: dir, queue: queueSize, spool: spoolOf(dir, true)})
}

func openStoreWriter(dir string, m Manifest, o StoreOptions, now func() time.Time, wo options) (*Writer, error) {
	s := &store{dir: dir, options: o, manifest: m, now: now, create: func(path string) (file, error) { return createFile(path) }}
	a, err := s.begin()
	if err != nil {
		s.close()
		return nil, fmt.Errorf("recording in store %s: %w", dir, err)
	}
	w := prepareWriter(a, wo)
	w.before, w.store = a.index.samples, s
	go w.run(a)
	return w, nil
}

// begin locks the store, drops what is too old, and opens the file to write.
func (s *store) begin() (*appender, error) {
	if err := makeStoreDir(s.dir); err != nil {
		return nil, err
	}
	var err error
	if s.lock, err = lockStore(s.dir); err != nil {
		return nil, err
	}
	names, err := storeNames(s.dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		s.keep(name, time.Time{})
	}
	s.trim(0, nil)
	if len(names) == 0 {
		return s.fresh(s.now(), "", time.Time{})
	}
	newest := names[len(names)-1]
	if a, err := s.goOn(newest); a != nil || err != nil {
		return a, err
	}
	return s.fresh(s.now(), newest, endOf(filepath.Join(s.dir, newest)))
}

// goOn opens the newest file to append to it; nil when it is too old or too large, or
// cannot be gone on with. When somebody writes it that is an error: a store whose lock was
// removed still has its writer.
func (s *store) goOn(name string) (*appender, error) {
	if len(s.kept) == 0 || s.kept[len(s.kept)-1].name != name {
		return nil, nil // dropped by now
	}
	f, c, err := openAppend(filepath.Join(s.dir, name))
	if errors.Is(err, ErrBusy) {
		return nil, err
	}
	if err != nil {
		return nil, nil
	}
	began := time.Time{}
	if len(c.index.groups) > 0 {
		began = time.Unix(0, c.index.groups[0].at).UTC()
	}
	if s.full(c.size, began, s.now()) {
		f.Close()
		return nil, nil
	}
	a, err := c.appender(f, stamped(s.manifest))
	if err != nil {
		f.Close()
		return nil, nil
	}
	s.current, s.began = name, began
	last := len(s.kept) - 1
	s.usage -= s.kept[last].bytes
	s.kept = s.kept[:last]
	if a.since.IsZero() && last > 0 { // its writer was killed before its first sample
		a.since = endOf(filepath.Join(s.dir, s.kept[last-1].name))
	}
	return a, nil
}

// full reports whether a file that began then and has this size should be the last one.
func (s *store) full(size int64, began, now time.Time) bool {
	if s.options.MaxBytes > 0 && size >= max(s.options.MaxBytes/fileParts, 1) {
		return true
	}
	length := s.options.FileLength
	age := now.Sub(began)
	return length > 0 && !began.IsZero() && (age >= length || age <= -length)
}

// fresh makes a file that follows newest ("": none), which ended at since.
func (s *store) fresh(at time.Time, newest string, since time.Time) (*appender, error) {
	name, f, err := s.createNext(at, newest)
	if err != nil {
		return nil, err
	}
	a, err := newAppender(f, stamped(s.manifest))
	if err != nil {
		f.Close()
		os.Remove(filepath.Join(s.dir, name)) // made here: without its head it is nothing yet
		return nil, err
	}
	a.since = since
	s.current, s.began = name, time.Time{}
	return a, nil
}

// createNext makes the next file whose name nobody has.
func (s *store) createNext(at time.Time, newest string) (name string, f file, err error) {
	for range 16 {
		name = nextName(at, newest)
		if f, err = s.create(filepath.Join(s.dir, name)); !errors.Is(err, ErrExists) {
			return name, f, err
		}
		newest = name
	}
	return "", nil, err
}

// turn begins the next file with sample when the one in use is full. When that fails,
// the one in use goes on, and the next sample tries again. The new file is there before
// the old one is ended: who follows the store sees that it goes on.
func (s *store) turn(w *Writer, a *appender, sample *probes.Sample) error {
	if s.began.IsZero() {
		s.began = sample.At
	}
	if !s.full(a.size, s.began, sample.At) || a.index.samples == 0 {
		return nil
	}
	s.manifest.Facts = a.facts.Facts // what was learned since
	before := s.current
	next, err := s.fresh(sample.At, before, time.Time{})
	if err != nil {
		return fmt.Errorf("the next file of the store: %w", err)
	}
	s.began = sample.At
	_ = a.end() // without its index it is read all the same
	w.follow(a, next)
	s.keep(before, s.now())
	return nil
}

// close gives the store free.
func (s *store) close() {
	if s.lock != nil {
		s.lock.Close()
	}
}

// endOf is the time of the last sample of a recording; zero when it cannot be told.
func endOf(path string) time.Time {
	u := newUnpacker()
	defer u.z.Close()
	v, _, err := openPart(path, u)
	if err != nil {
		return time.Time{}
	}
	defer v.shut()
	if v.index.samples == 0 {
		return time.Time{}
	}
	return time.Unix(0, v.index.end).UTC()
}
