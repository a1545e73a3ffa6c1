package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// makeStoreDir makes a directory for this user alone, or takes one that only this user
// can write.
func makeStoreDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(strings.TrimRight(dir, "/"), &st); err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return errors.New("it is a symbolic link; name the directory itself")
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return errors.New("it is not a directory; for one file: -o FILE")
	case int(st.Uid) != os.Geteuid():
		return errors.New("it belongs to another user")
	case st.Mode&0o022 != 0:
		return errors.New("others can write to it; a store is its owner's alone (chmod go-w)")
	}
	return nil
}

// lockName is the file in a store that its writer locks; in it is the writer's number.
const lockName = "lock"

// lockStore makes this process the store's only writer, until the file is closed.
func lockStore(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%s is a symbolic link", path)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "locking", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	if err := checkFile(f, true); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is writing it: %w", holder(f), ErrBusy)
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	if !isLock(f) {
		f.Close()
		return nil, fmt.Errorf("%s is not a store's lock: it holds something else, which stays; name another directory", path)
	}
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid()) // a full disk: the lock holds without it
	}
	return f, nil
}

// holder names the process that wrote its number into a lock file.
func holder(f *os.File) string {
	if pid, err := strconv.Atoi(lockText(f)); err == nil && pid > 0 {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}

// isLock reports whether a file holds what a lock does: nothing, or a number.
func isLock(f *os.File) bool {
	text := lockText(f)
	_, err := strconv.ParseUint(text, 10, 31)
	return text == "" || err == nil
}

// lockText is what the file holds; of a long one only the beginning.
func lockText(f *os.File) string {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	return strings.TrimSuffix(string(b[:n]), "\n")
}
