package probes

import (
	"errors"
	"fmt"
)

// ErrEnter is in the chain of an error when this user may not enter a network namespace.
var ErrEnter = errors.New("entering it needs root (CAP_SYS_ADMIN and CAP_SYS_PTRACE)")

// NamespaceError says why a network namespace of this host could not be entered.
type NamespaceError struct {
	What string // which one: "network namespace 4026532281"
	Err  error
}

func (e *NamespaceError) Error() string { return fmt.Sprintf("%s: %v", e.What, e.Err) }
func (e *NamespaceError) Unwrap() error { return e.Err }

// namespace is a network namespace of this host, named by its inode or by a process in it.
type namespace struct {
	inode uint64
	pid   int
}

func (n *namespace) String() string {
	if n.inode > 0 {
		return fmt.Sprintf("network namespace %d", n.inode)
	}
	return fmt.Sprintf("network namespace of process %d", n.pid)
}
