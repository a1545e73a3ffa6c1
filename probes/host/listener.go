package host

import (
	"bufio"
	"encoding/hex"
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

// PIDOf finds the process of this machine that listens on addr (host:port). The
// error says what is in the way: nobody listens, the host is another machine, or
// the socket's owner is not to be seen by this user.
func PIDOf(addr string) (int, error) { return pidOf("/", addr) }

// pidOf is PIDOf below a root: the sockets of /proc/net/tcp{,6} that listen on
// the port, then the process under /proc that holds one of them open.
func pidOf(root, addr string) (int, error) {
	ips, port, err := resolve(addr)
	if err != nil {
		return 0, err
	}
	inodes := map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		if err := listening(filepath.Join(root, "proc/net", table), ips, port, inodes); err != nil && table == "tcp" {
			return 0, fmt.Errorf("finding who listens on %s: %w", addr, err)
		}
	}
	if len(inodes) == 0 {
		return 0, fmt.Errorf("no process of this machine (or of this container) listens on %s", addr)
	}
	return holder(filepath.Join(root, "proc"), addr, inodes)
}

// resolve turns addr into addresses. "" and "localhost" are the loopback ones.
func resolve(addr string) ([]netip.Addr, uint16, error) {
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
	if !local(ip) {
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
	stateListen  = "0A"
	maxSockets   = 1 << 20 // lines read of a socket table
	maxProcesses = 1 << 17
	maxFDs       = 1 << 16 // of one process
)

// listening adds the inodes of the sockets in a table that listen on the port at one of the addresses.
func listening(table string, ips []netip.Addr, port uint16, inodes map[string]bool) error {
	f, err := os.Open(table)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 256<<20))
	for n := 0; lines.Scan() && n < maxSockets; n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != stateListen {
			continue
		}
		at, ok := socketAddr(fields[1])
		if !ok || at.Port() != port || fields[9] == "0" {
			continue
		}
		if at.Addr().IsUnspecified() || slices.Contains(ips, at.Addr()) || slices.ContainsFunc(ips, netip.Addr.IsUnspecified) {
			inodes[fields[9]] = true
		}
	}
	return lines.Err()
}

// socketAddr decodes "0100007F:1F40": 32-bit words in the machine's (little-endian) order.
func socketAddr(s string) (netip.AddrPort, bool) {
	address, service, ok := strings.Cut(s, ":")
	port, err := strconv.ParseUint(service, 16, 16)
	b, err2 := hex.DecodeString(address)
	if !ok || err != nil || err2 != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(b); i += 4 {
		slices.Reverse(b[i : i+4])
	}
	ip, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(ip.Unmap(), uint16(port)), ok
}

// holder finds the process that has one of the sockets open. Forked workers
// share it; the one with the lowest number is their parent in practice.
func holder(proc, addr string, inodes map[string]bool) (int, error) {
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

func holds(dir string, inodes map[string]bool) (bool, error) {
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
		if inode, ok := strings.CutPrefix(target, "socket:["); ok && inodes[strings.TrimSuffix(inode, "]")] {
			return true, nil
		}
	}
	if err == io.EOF {
		err = nil
	}
	return false, err
}
