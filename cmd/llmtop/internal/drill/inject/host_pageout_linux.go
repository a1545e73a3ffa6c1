package inject

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pageOut has the kernel take the pages of a process in some ranges back, as it does when
// memory is short (process_madvise(2), MADV_PAGEOUT). Pages of a file that nobody has
// changed are dropped, and read again when they are touched.
func pageOut(pid int, spans []span) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for _, s := range spans {
		iov := unix.RemoteIovec{Base: uintptr(s.from), Len: int(s.to - s.from)}
		_, _, errno := unix.Syscall6(unix.SYS_PROCESS_MADVISE, uintptr(fd), uintptr(unsafe.Pointer(&iov)), 1, unix.MADV_PAGEOUT, 0, 0)
		switch errno {
		case 0:
		case unix.EPERM, unix.ENOSYS:
			return Lacking(fmt.Sprintf("needs root, and Linux 5.10: taking pages from another process: %v", errno))
		default:
			return fmt.Errorf("taking pages from the engine: %w", errno)
		}
	}
	return nil
}

// deviceOf is the number of the disk, a whole one, that a file is on, as cgroups name it.
func deviceOf(path string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return "", err
	}
	return wholeDisk("/", unix.Major(st.Dev), unix.Minor(st.Dev))
}
