package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// createFile makes a new file for this user alone and locks it. It never follows
// a symlink, and never opens a file that is there for writing.
func createFile(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_APPEND|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, existing(path)
	}
	if err != nil {
		return nil, fmt.Errorf("creating recording %s: %w", path, err)
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("locking recording %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// ErrExists is why Create refuses a path at which there is something.
var ErrExists = errors.New("exists already; a recording is never overwritten")

// existing says what is at path, and who is writing it if someone is.
func existing(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		err = unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB)
	}
	switch {
	case errors.Is(err, unix.ELOOP):
		return fmt.Errorf("creating recording %s: it is a symbolic link: %w", path, ErrExists)
	case errors.Is(err, unix.EWOULDBLOCK):
		return fmt.Errorf("creating recording %s: %s is writing it: %w", path, writerOf(path), ErrExists)
	}
	return fmt.Errorf("creating recording %s: %w", path, ErrExists)
}

// writerOf names the process whose manifest the file has.
func writerOf(path string) string {
	r, err := Open(path)
	if err != nil {
		return "another process"
	}
	defer r.Close()
	if pid := r.Info().Manifest.PID; pid > 0 {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}
