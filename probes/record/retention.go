package record

import (
	"errors"
	"fmt"
	"io/fs"
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
	denied := false
	s.kept = slices.DeleteFunc(s.kept, func(k keptFile) bool {
		if denied {
			return false // so are all others
		}
		old := s.options.Retain > 0 && now.Sub(k.written) > s.options.Retain
		over := s.options.MaxBytes > 0 && s.usage+size > s.options.MaxBytes
		if !old && !over {
			return false
		}
		err := dropFile(filepath.Join(s.dir, k.name))
		denied = errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS)
		if denied || errors.Is(err, errBeingWritten) {
			return false // it is tried again
		}
		s.usage -= k.bytes // it is gone; or it is not ours, stays and counts no more
		return true
	})
}

// errBeingWritten is why dropFile leaves a file: for a moment, when a mark is set in it.
var errBeingWritten = errors.New("it is being written")

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
		return fmt.Errorf("%s: %w", path, errBeingWritten)
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
