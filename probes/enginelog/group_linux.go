package enginelog

import (
	"os"
	"runtime"
	"syscall"
)

// ownGroup puts a program and what it starts into a process group, so that they end together
// and the terminal's Ctrl-C does not reach them. When llmtop is killed and cannot end it, the
// kernel does.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// besideParent keeps the thread that starts a program until it ended: the kernel takes the
// end of that thread for the end of the parent. It returns what lets the thread go.
func besideParent() (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// killGroup ends a program and what it started.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // it may have ended
