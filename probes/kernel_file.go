package probes

import (
	"os"
	"syscall"
)

// ReadKernelFile returns a file of /proc, /sys or a cgroup, at most limit bytes of it, in
// buf's memory when it fits. It asks the kernel directly: some hundred such files are read
// every second, and os.File would double the calls. Errors are *os.PathError.
func ReadKernelFile(path string, buf []byte, limit int) ([]byte, error) {
	fd, err := OpenKernelFile(path)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	buf = buf[:0]
	for len(buf) < limit {
		if len(buf) == cap(buf) {
			buf = append(buf, make([]byte, max(512, cap(buf)))...)[:len(buf)]
		}
		n, err := syscall.Read(fd, buf[len(buf):cap(buf)])
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		case n == 0:
			return buf, nil
		default:
			buf = buf[:len(buf)+n]
		}
	}
	return buf, nil
}

// OpenKernelFile opens a file for reading; who opened it closes it.
func OpenKernelFile(path string) (fd int, err error) {
	for {
		if fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err == nil {
			return fd, nil
		}
		if err != syscall.EINTR {
			return -1, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
