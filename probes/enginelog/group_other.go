//go:build !unix

package enginelog

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

func besideParent() (release func()) { return func() {} }

func killGroup(p *os.Process) { _ = p.Kill() } // it may have ended
