package host

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// maxFile bounds a file of /proc or a cgroup; /proc/stat of a 512-core machine has about 100 KB.
const maxFile = 1 << 20

// read returns a small file, at most maxFile of it, in buf's memory when it fits.
// It asks the kernel directly: the engine's threads are read every second, and
// os.File would double the calls.
func read(path string, buf []byte) ([]byte, error) {
	fd, err := open(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	buf = buf[:0]
	for len(buf) < maxFile {
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

// readHead returns the first part of a file, what one call gives that fits in buf: all of
// a process's stat.
func readHead(path string, buf []byte) ([]byte, error) {
	fd, err := open(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	n, err := syscall.Read(fd, buf)
	for err == syscall.EINTR {
		n, err = syscall.Read(fd, buf)
	}
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	return buf[:n], nil
}

func open(path string) (fd int, err error) {
	for {
		if fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != syscall.EINTR {
			return fd, err
		}
	}
}

// value finds the number of a "key value" line; the key may end in a colon.
func value(text []byte, key string) (float64, bool) {
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		rest, found := bytes.CutPrefix(line, []byte(key))
		if !found || len(rest) == 0 || rest[0] != ' ' && rest[0] != '\t' && rest[0] != ':' {
			continue
		}
		word, _, _ := bytes.Cut(bytes.TrimLeft(bytes.TrimPrefix(rest, []byte(":")), " \t"), []byte(" "))
		v, err := strconv.ParseFloat(string(word), 64)
		return v, err == nil
	}
	return 0, false
}
