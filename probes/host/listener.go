package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// PIDOf finds the process of this machine that listens on addr: "host:port",
// "host:port#netns=4026532281" or "host:port#pid=4242" in another network namespace, or
// "unix:/run/vllm.sock". The error says what is in the way: nobody listens, the host is
// another machine, or the socket's owner is not to be seen by this user.
func PIDOf(addr string) (int, error) { return pidOf("/", addr) }

// pidOf is PIDOf below a root: the sockets of /proc/net/{tcp,tcp6,unix} that listen
// there, then the process under /proc that holds one of them open.
func pidOf(root, addr string) (int, error) {
	proc := filepath.Join("/", root, "proc")
	var inodes map[uint64]bool
	var err error
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		inodes, err = socketsAt(proc, path)
	} else {
		inodes, err = socketsOn(proc, addr)
	}
	if err != nil {
		return 0, err
	}
	if len(inodes) == 0 {
		return 0, fmt.Errorf("no process of this machine (or of this container) listens on %s", addr)
	}
	pid, err := holder(proc, addr, inodes)
	if err == nil && slices.Contains(forwarders, titleOf(proc, pid)) {
		return 0, fmt.Errorf("%s listens on %s for a container, and is not what serves there", titleOf(proc, pid), addr)
	}
	return pid, err
}

// forwarders are programs that listen on a port of the host for a container's. What they
// take says nothing of the engine behind them.
var forwarders = []string{"docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "pasta.avx2", "conmon"}

// socketsOn are the inodes of the TCP sockets that listen on addr.
func socketsOn(proc, addr string) (map[uint64]bool, error) {
	addr, namespace, other := strings.Cut(addr, "#")
	net := filepath.Join(proc, "net")
	if other {
		pid, err := inNamespace(proc, namespace)
		if err != nil {
			return nil, err
		}
		net = filepath.Join(proc, strconv.Itoa(pid), "net")
	}
	ips, port, err := resolve(addr, other)
	if err != nil {
		return nil, err
	}
	inodes := map[uint64]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		err := eachListening(context.Background(), filepath.Join(net, table), func(s tcpSocket) {
			at := s.at.Addr()
			if s.at.Port() == port && (at.IsUnspecified() || slices.Contains(ips, at) || slices.ContainsFunc(ips, netip.Addr.IsUnspecified)) {
				inodes[s.inode] = true
			}
		})
		if err != nil && table == "tcp" {
			return nil, fmt.Errorf("finding who listens on %s: %w", addr, err)
		}
	}
	return inodes, nil
}

// socketsAt are the inodes of the Unix sockets that listen at a path.
func socketsAt(proc, path string) (map[uint64]bool, error) {
	inodes := map[uint64]bool{}
	err := eachUnix(context.Background(), filepath.Join(proc, "net/unix"), func(inode uint64, at string) {
		if at == path {
			inodes[inode] = true
		}
	})
	if err != nil {
		return nil, fmt.Errorf("finding who listens on %s: %w", path, err)
	}
	return inodes, nil
}

// resolve turns addr into addresses. "" and "localhost" are the loopback ones.
// In another namespace any address may be a local one.
func resolve(addr string, other bool) ([]netip.Addr, uint16, error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, 0, fmt.Errorf("address %q is not host:port", addr)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, 0, fmt.Errorf("address %q has no numeric port", addr)
	}
	if host == "" || host == "localhost" {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, uint16(port), nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return nil, 0, fmt.Errorf("host %q is a name, not an address of this machine", host)
	}
	ip = ip.Unmap().WithZone("")
	if !other && !local(ip) {
		return nil, 0, fmt.Errorf("%s is not an address of this machine", host)
	}
	return []netip.Addr{ip}, uint16(port), nil
}

func local(ip netip.Addr) bool {
	if ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	addrs, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		if !ok {
			return false
		}
		own, ok := netip.AddrFromSlice(n.IP)
		return ok && own.Unmap() == ip
	})
}

const (
	maxProcesses = 1 << 17
	maxFDs       = 1 << 16 // of one process
)

// holder finds the process that has one of the sockets open. Forked workers
// share it; the one with the lowest number is their parent in practice.
func holder(proc, addr string, inodes map[uint64]bool) (int, error) {
	pids, err := processes(proc)
	if err != nil {
		return 0, err
	}
	hidden := 0
	for _, pid := range pids {
		has, err := holds(filepath.Join(proc, strconv.Itoa(pid), "fd"), inodes)
		if has {
			return pid, nil
		}
		if errors.Is(err, os.ErrPermission) {
			hidden++
		}
	}
	if hidden > 0 {
		return 0, fmt.Errorf("a process of another user listens on %s: seeing which needs root or CAP_SYS_PTRACE (%d processes hidden)", addr, hidden)
	}
	return 0, fmt.Errorf("something listens on %s, but no process seen from here holds it (another container?)", addr)
}

func processes(proc string) ([]int, error) {
	d, err := os.Open(proc)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(maxProcesses)
	if len(names) == 0 && err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, nil
}

func holds(dir string, inodes map[uint64]bool) (bool, error) {
	d, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer d.Close()
	names, err := d.Readdirnames(maxFDs)
	for _, name := range names {
		target, err := os.Readlink(dir + "/" + name)
		if err != nil {
			continue
		}
		if inode, ok := socketInode(target); ok && inodes[inode] {
			return true, nil
		}
	}
	if err == io.EOF {
		err = nil
	}
	return false, err
}
