package probes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// maxLooked bounds the processes looked through for one that is in a namespace.
const maxLooked = 1 << 16

// dial connects from inside the namespace to addr, an IP address and a port: nothing is
// looked up there.
func (n *namespace) dial(ctx context.Context, addr string) (net.Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, &NamespaceError{n.String(), fmt.Errorf("%q is not an address", Printable(addr, 100))}
	}
	fd, err := n.socket(to.Addr().Unmap())
	if err != nil {
		return nil, &NamespaceError{n.String(), err}
	}
	return connect(ctx, fd, netip.AddrPortFrom(to.Addr().Unmap(), to.Port()))
}

// socket makes a TCP socket that belongs to the namespace. A socket stays in the
// namespace it was made in, so the thread is back before the socket is used.
func (n *namespace) socket(ip netip.Addr) (int, error) {
	target, err := n.open()
	if err != nil {
		return -1, permission(err)
	}
	defer target.Close()
	type made struct {
		fd  int
		err error
	}
	result := make(chan made, 1)
	go func() {
		runtime.LockOSThread()
		fd, back, err := socketIn(int(target.Fd()), ip)
		if back {
			runtime.UnlockOSThread()
		} // else the thread ends with this goroutine: nobody else may run on it
		result <- made{fd, err}
	}()
	m := <-result
	return m.fd, permission(m.err)
}

// socketIn makes the socket on this thread, and reports whether the thread is where it was.
func socketIn(target int, ip netip.Addr) (fd int, back bool, err error) {
	own, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, true, err
	}
	defer unix.Close(own)
	if err := unix.Setns(target, unix.CLONE_NEWNET); err != nil {
		return -1, true, err
	}
	family := unix.AF_INET
	if ip.Is6() {
		family = unix.AF_INET6
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if unix.Setns(own, unix.CLONE_NEWNET) != nil {
		return fd, false, err
	}
	return fd, true, err
}

// open opens the namespace by a process that is in it.
func (n *namespace) open() (*os.File, error) {
	if n.inode == 0 {
		return os.Open(fmt.Sprintf("/proc/%d/ns/net", n.pid))
	}
	if n.pid > 0 {
		if f := n.openIf(n.pid); f != nil {
			return f, nil
		}
	}
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxLooked)
	hidden := false
	want := fmt.Sprintf("net:[%d]", n.inode)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		link, err := os.Readlink("/proc/" + name + "/ns/net")
		hidden = hidden || errors.Is(err, os.ErrPermission)
		if link != want {
			continue
		}
		if f := n.openIf(pid); f != nil {
			n.pid = pid
			return f, nil
		}
	}
	if hidden && os.Geteuid() != 0 {
		return nil, os.ErrPermission
	}
	return nil, errors.New("no process that is seen from here is in it any more")
}

// openIf opens the namespace of a process if it is the one meant.
func (n *namespace) openIf(pid int) *os.File {
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return nil
	}
	var stat unix.Stat_t
	if unix.Fstat(int(f.Fd()), &stat) != nil || stat.Ino != n.inode {
		f.Close()
		return nil
	}
	return f
}

// permission puts what the kernel says into words.
func permission(err error) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		return ErrEnter
	case errors.Is(err, os.ErrNotExist):
		return errors.New("there is no such process any more")
	}
	return err
}

// connect connects a socket that does not block and wraps it.
func connect(ctx context.Context, fd int, to netip.AddrPort) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "tcp "+to.String())
	defer f.Close() // net.FileConn has a copy
	if deadline, ok := ctx.Deadline(); ok {
		f.SetDeadline(deadline)
	}
	stop := context.AfterFunc(ctx, func() { f.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := unix.Connect(fd, sockaddr(to))
	if err == unix.EINPROGRESS {
		err = await(f, fd)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, context.DeadlineExceeded
	case err != nil:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(to), Err: err}
	}
	return net.FileConn(f)
}

// await waits until the connection is made or refused.
func await(f *os.File, fd int) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Write(func(uintptr) bool {
		code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
		switch {
		case err != nil:
			result = err
		case code != 0:
			result = unix.Errno(code)
		default:
			_, err := unix.Getpeername(fd)
			result = err
			return err != unix.ENOTCONN
		}
		return true
	})
	if err != nil {
		return err
	}
	return result
}

func sockaddr(to netip.AddrPort) unix.Sockaddr {
	if to.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()}
}
