package probes

import "net/netip"

// Listener is a socket of this host that accepts connections, with the process behind
// it, or a process worth asking about that listens nowhere.
type Listener struct {
	Addr      netip.AddrPort // of TCP; zero for a Unix socket and for a process that listens nowhere
	Path      string         // of a Unix socket, as llmtop reaches it
	Other     bool           // in another network namespace than llmtop
	NetNS     uint64         // that namespace (its inode), 0 when it cannot be seen
	PID       int            // 0: the process is not to be seen
	Hidden    bool           // which sockets the process has is not to be seen by this user
	UID       int            // who opened the socket, or runs the process; -1: not known
	Argv      []string       // of the process, bounded; foreign text
	Container string         // of the process in another namespace: the start of its container's id
	Addresses []netip.Addr   // of that namespace, loopback aside
}
