package host

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"llmtop/probes"
)

// maxFile bounds a file of /proc or a cgroup; /proc/stat of a 512-core machine has about 100 KB.
const maxFile = 1 << 20

// read returns a small file, at most maxFile of it, in buf's memory when it fits.
func read(path string, buf []byte) ([]byte, error) { return probes.ReadKernelFile(path, buf, maxFile) }

// readHead returns the first part of a file, what one call gives that fits in buf: all of
// a process's stat.
func readHead(path string, buf []byte) ([]byte, error) {
	fd, err := probes.OpenKernelFile(path)
	if err != nil {
		return nil, err
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
