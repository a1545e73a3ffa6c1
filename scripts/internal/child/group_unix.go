//go:build unix

package child

import "syscall"

// ownGroup keeps a child from getting the Ctrl-C of the terminal.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
