package host

import (
	"os"
	"syscall"

	"llmtop/probes"
)

// maxKept bounds the files that are kept open, threads' mostly.
const maxKept = 3072

// kept is a file of /proc or of a cgroup that is read again and again. Opening one costs
// several times what reading it does, so it stays open; of a process or thread that has
// ended, the kernel answers an open file with an error, never with another one's.
type kept struct {
	path string
	fd   int
	open bool
}

// reader reads kept files. Beyond its room files are opened for each reading.
type reader struct {
	room int
	buf  []byte
}

// newReader leaves most of the files that this process may open to others.
func newReader() *reader {
	r := &reader{room: maxKept, buf: make([]byte, 8<<10)}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil && limit.Cur/4 < maxKept {
		r.room = int(limit.Cur / 4)
	}
	return r
}

// line reads a file that the kernel writes in one go. The text is good until the next reading.
func (r *reader) line(k *kept) ([]byte, error) {
	fd, err := k.fd, error(nil)
	if !k.open {
		if fd, err = probes.OpenKernelFile(k.path); err != nil {
			return nil, err
		}
		if r.room > 0 {
			r.room--
			k.fd, k.open = fd, true
		} else {
			defer syscall.Close(fd)
		}
	}
	for {
		n, err := syscall.Pread(fd, r.buf, 0)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			r.close(k)
			return nil, &os.PathError{Op: "read", Path: k.path, Err: err}
		default:
			return r.buf[:n], nil
		}
	}
}

// whole reads a file of any size up to maxFile, opened for it. The text is good until the
// next reading.
func (r *reader) whole(path string) ([]byte, error) {
	text, err := read(path, r.buf)
	if cap(text) > cap(r.buf) {
		r.buf = text[:cap(text)]
	}
	return text, err
}

// close gives a file back.
func (r *reader) close(k *kept) {
	if k.open {
		syscall.Close(k.fd)
		r.room++
		k.open = false
	}
}
