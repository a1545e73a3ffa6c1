//go:build unix && !linux

package enginelog

import (
	"os"
	"syscall"
)

// ownGroup puts a program and what it starts into a process group, so that they end together
// and the terminal's Ctrl-C does not reach them.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func besideParent() (release func()) { return func() {} }

// killGroup ends a program and what it started.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // it may have ended
