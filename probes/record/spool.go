package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A recording that is being written belongs to its writer. Marks for it wait in a
// spool beside it, one JSON object a line, until the writer takes them in: within
// spoolEvery, or the next writer does when this one was killed. Readers show them.
const (
	spoolEvery = time.Second
	maxSpool   = 256 << 10 // bytes
)

// MaxMarkText is the most bytes that the text of a mark may have.
const MaxMarkText = 1000

// spoolOf is the path of a recording's spool; "": it has none.
func spoolOf(path string, store bool) string {
	switch {
	case path == "":
		return ""
	case store:
		return filepath.Join(path, "marks")
	}
	return path + ".marks"
}

// addToSpool makes m wait.
func addToSpool(path string, m Mark) error {
	for range 8 { // the writer may remove the spool between opening and locking
		f, err := openSpool(path, unix.O_RDWR|unix.O_CREAT|unix.O_APPEND)
		if err != nil {
			return err
		}
		done, err := putMark(f, path, m)
		f.Close()
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s is busy", path)
}

// putMark appends m to the spool f; done is false when that is not at path any more.
func putMark(f *os.File, path string, m Mark) (done bool, err error) {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return false, fmt.Errorf("locking %s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(info, now) {
		return false, nil
	}
	if err := checkSpool(f, info.Size()); err != nil {
		return false, fmt.Errorf("%s %w", path, err)
	}
	line, err := marshal(m)
	if err != nil {
		return false, err
	}
	if info.Size()+int64(len(line)) >= maxSpool {
		return false, fmt.Errorf("%s is full: nobody takes the marks in", path)
	}
	if !endsLine(f, info.Size()) { // who wrote it was killed
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Truncate(info.Size()) // half a line would spoil the next one
		return false, err
	}
	return true, f.Sync()
}

// checkSpool refuses a file that somebody keeps for something else: with text, but without
// a mark. The beginning of one is that of a mark whose writer was killed.
func checkSpool(f *os.File, size int64) error {
	if size == 0 || len(readSpool(f)) > 0 {
		return nil
	}
	begun := []byte(`{"`)
	b := make([]byte, len(begun))
	if n, _ := f.ReadAt(b, 0); bytes.HasPrefix(begun, b[:n]) {
		return nil
	}
	return errors.New("is there already and holds no marks: move it away first")
}

func endsLine(f *os.File, size int64) bool {
	var b [1]byte
	n, _ := f.ReadAt(b[:], size-1)
	return size == 0 || n == 1 && b[0] == '\n'
}

// openSpool opens a spool: a regular file, to change it one of this user, never
// through a link.
func openSpool(path string, flags int) (*os.File, error) {
	fd, err := unix.Open(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%s is a symbolic link: marks are not read or written through it", path)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "opening marks", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	if err := checkFile(f, flags&unix.O_RDWR != 0); err != nil {
		f.Close()
		return nil, fmt.Errorf("marks %s: %w", path, err)
	}
	return f, nil
}

// checkFile refuses what is not a regular file, or, where that matters, another user's.
func checkFile(f *os.File, own bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return errors.New("it is a directory")
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return errors.New("it is not a regular file")
	case own && int(st.Uid) != os.Geteuid():
		return errors.New("it belongs to another user")
	}
	return nil
}

// spooled are the marks that wait at path; without any, or when they cannot be read, none.
func spooled(path string) []Mark {
	if path == "" {
		return nil
	}
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	f, err := openSpool(path, unix.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	return readSpool(f)
}

// readSpool reads as many marks as a spool may hold. A line that is none is passed over.
func readSpool(f *os.File) []Mark {
	b, _ := io.ReadAll(io.NewSectionReader(f, 0, maxSpool))
	var marks []Mark
	for line := range bytes.Lines(b) {
		var m Mark
		if json.Unmarshal(line, &m) != nil || m.Text == "" || !fitsNano(m.At) {
			continue
		}
		marks = append(marks, Mark{At: m.At.UTC(), Text: clean(shorten(m.Text))})
	}
	return marks
}

// shorten cuts what is too long for a mark; clean makes half a character whole.
func shorten(s string) string { return s[:min(len(s), MaxMarkText)] }

// takeSpool hands the marks that wait at path to write, and removes them once it kept
// them: emptied first, so that where a name cannot be removed no mark is taken in twice.
// What is no spool of ours, or holds no mark, is left alone.
func takeSpool(path string, write func([]Mark) error) error {
	if path == "" {
		return nil
	}
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	f, err := openSpool(path, unix.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil // one is just being added: at the next look
	}
	marks := readSpool(f)
	if len(marks) == 0 {
		if info, err := f.Stat(); err != nil || info.Size() > 0 {
			return err
		}
		return os.Remove(path)
	}
	if err := write(marks); err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	return os.Remove(path)
}
