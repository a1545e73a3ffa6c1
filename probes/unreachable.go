package probes

import (
	"errors"
	"syscall"
)

// Unreachable reports an error of an address to which there is no way from here: that of
// a family that is off, or of another network.
func Unreachable(err error) bool {
	for _, no := range []syscall.Errno{syscall.EADDRNOTAVAIL, syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.EAFNOSUPPORT} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// unreachable says so without the addresses that the system's error repeats.
type unreachable struct{ err error }

func (e *unreachable) Error() string {
	var no syscall.Errno
	errors.As(e.err, &no)
	return "there is no way to it (" + no.Error() + ")"
}
func (e *unreachable) Unwrap() error { return e.err }
