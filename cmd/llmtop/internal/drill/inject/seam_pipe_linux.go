package inject

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// shrinkPipe leaves a pipe no more room than a page.
func shrinkPipe(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { _, failed = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("making a pipe small: %w", err)
	}
	return nil
}
