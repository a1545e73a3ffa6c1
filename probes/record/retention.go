package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// keptFile is a file of a store that is not in use, in the order of writing.
type keptFile struct {
	name    string
	bytes   int64     // on disk
	written time.Time // last
}

// diskBlock is what sizes on disk are rounded up to for the file in use.
const diskBlock = 4096

// keep takes note of a file that was written before the one in use; zero: the file knows when.
func (s *store) keep(name string, written time.Time) {
	var st unix.Stat_t
	if unix.Lstat(filepath.Join(s.dir, name), &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	k := keptFile{name: name, bytes: st.Blocks * 512, written: written}
	if written.IsZero() {
		k.written = time.Unix(st.Mtim.Unix())
	}
	s.kept = append(s.kept, k)
	s.usage += k.bytes
}

// trim drops the oldest files while they are too old, or all take too much room; size
// is that of the file in use. After a full disk their room is measured anew.
func (s *store) trim(size int64, failed error) {
	if errors.Is(failed, unix.ENOSPC) {
		s.measure()
	}
	size = (size + diskBlock - 1) / diskBlock * diskBlock
	now := s.now()
	s.kept = slices.DeleteFunc(s.kept, func(k keptFile) bool {
		old := s.options.Retain > 0 && now.Sub(k.written) > s.options.Retain
		if old {
			s.drop(k)
		}
		return old
	})
	for len(s.kept) > 0 && s.options.MaxBytes > 0 && s.usage+size > s.options.MaxBytes {
		s.drop(s.kept[0])
		s.kept = slices.Delete(s.kept, 0, 1)
	}
}

// drop removes a file; what is not ours stays, and is not counted any more.
func (s *store) drop(k keptFile) {
	_ = dropFile(filepath.Join(s.dir, k.name))
	s.usage -= k.bytes
}

func (s *store) measure() {
	names := s.kept
	s.kept, s.usage = nil, 0
	for _, k := range names {
		s.keep(k.name, k.written)
	}
}

// dropFile removes a recording of this user that nobody writes; nothing else, and
// nothing that a link leads to.
func dropFile(path string) error {
	f, err := openSpool(path, unix.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("%s is being written", path)
	}
	if err := checkRecording(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.Remove(path)
}

// checkRecording looks at a file's first record only.
func checkRecording(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	v := &volume{records: records{src: fileSource{f}, budget: searchBudget}}
	if err := v.checkHeader(info.Size()); err != nil {
		return err
	}
	if v.lostFirst {
		return ErrNotRecording
	}
	return nil
}
