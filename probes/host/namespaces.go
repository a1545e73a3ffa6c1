package host

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// namespaceOf is the inode of a process's network namespace; an error when this user may
// not see it.
func namespaceOf(dir string) (uint64, error) {
	link, err := os.Readlink(dir + "/ns/net")
	if err != nil {
		return 0, err
	}
	inode, ok := strings.CutPrefix(link, "net:[")
	n, err := strconv.ParseUint(strings.TrimSuffix(inode, "]"), 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%s/ns/net is no namespace", dir)
	}
	return n, nil
}

// inNamespace finds a process in the network namespace that "netns=INODE" or "pid=PID" names.
func inNamespace(proc, name string) (int, error) {
	kind, value, _ := strings.Cut(name, "=")
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil || kind != "netns" && kind != "pid" {
		return 0, fmt.Errorf("%q names no network namespace", name)
	}
	if kind == "pid" {
		return int(n), nil
	}
	pids, err := processes(proc)
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		if is, err := namespaceOf(filepath.Join(proc, strconv.Itoa(pid))); err == nil && is == n {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("no process that is seen from here is in network namespace %d", n)
}

// maxAddresses bounds those of one namespace.
const maxAddresses = 32

// addresses are those of a network namespace, loopback aside: the local ones of its
// routing table.
func addresses(ctx context.Context, dir string) []netip.Addr {
	var found []netip.Addr
	var last netip.Addr
	err := eachLine(ctx, dir+"/net/fib_trie", func(line []byte) bool {
		fields := strings.Fields(string(line))
		switch {
		case len(fields) == 2 && fields[0] == "|--":
			last, _ = netip.ParseAddr(fields[1])
		case len(fields) == 3 && fields[0] == "/32" && fields[2] == "LOCAL" && last.IsValid() && !last.IsLoopback():
			found, last = append(found, last), netip.Addr{} // the table has each twice
		}
		return len(found) < 2*maxAddresses
	})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	var once []netip.Addr
	seen := map[netip.Addr]bool{}
	for _, a := range found {
		if !seen[a] {
			seen[a] = true
			once = append(once, a)
		}
	}
	return once
}

// containerID is the long id that container runtimes name a process's control group after.
var containerID = regexp.MustCompile(`[0-9a-f]{64}`)

// container is the start of the id of a process's container, "" for none.
func container(dir string) string {
	text, err := read(dir+"/cgroup", nil)
	if err != nil {
		return ""
	}
	if id := containerID.Find(text); id != nil {
		return string(id[:12])
	}
	return ""
}
