package host

import (
	"bytes"
	"encoding/binary"
	"syscall"
)

// The kernel's interface for looking at sockets (sock_diag(7)). /proc/net/tcp does not
// tell how long the queue of connections to be accepted may get; this does.
const (
	netlinkSockDiag  = 4
	sockDiagByFamily = 20
	diagRequest      = 56 // bytes of inet_diag_req_v2
	diagMessage      = 72 // bytes of inet_diag_msg
	diagQueue        = 60 // where in that idiag_wqueue is: of a socket that listens, its backlog
	diagTimeout      = 1  // seconds
)

// mayAskForSockets reports whether asking changes nothing: the kernel loads the module
// that answers when it has one and it is not there yet.
func mayAskForSockets() bool {
	if !exists("/proc/modules") || exists("/sys/module/tcp_diag") {
		return true
	}
	release, err := read("/proc/sys/kernel/osrelease", nil)
	if err != nil {
		return false
	}
	builtin, err := read("/lib/modules/"+string(bytes.TrimSpace(release))+"/modules.builtin", nil)
	return err == nil && bytes.Contains(builtin, []byte("/tcp_diag.ko"))
}

// backlogOf is how many connections to a port of llmtop's network namespace may wait to
// be accepted, by all sockets that listen on it.
func backlogOf(port uint16) (sum float64, ok bool) {
	for _, family := range []byte{syscall.AF_INET, syscall.AF_INET6} {
		for _, message := range listening(family) {
			if len(message) >= diagMessage && binary.BigEndian.Uint16(message[4:]) == port {
				sum += float64(binary.NativeEndian.Uint32(message[diagQueue:]))
				ok = true
			}
		}
	}
	return sum, ok
}

// listening asks for the TCP sockets that listen.
func listening(family byte) (messages [][]byte) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	if syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: diagTimeout}) != nil {
		return nil
	}
	request := make([]byte, syscall.SizeofNlMsghdr+diagRequest)
	binary.NativeEndian.PutUint32(request, uint32(len(request)))
	binary.NativeEndian.PutUint16(request[4:], sockDiagByFamily)
	binary.NativeEndian.PutUint16(request[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	body := request[syscall.SizeofNlMsghdr:]
	body[0], body[1] = family, syscall.IPPROTO_TCP
	const listen = 10 // TCP_LISTEN
	binary.NativeEndian.PutUint32(body[4:], 1<<listen)
	if syscall.Sendto(fd, request, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}) != nil {
		return nil
	}
	buf := make([]byte, 32<<10)
	for range 1024 { // answers
		n, _, err := syscall.Recvfrom(fd, buf, 0)
		if err != nil {
			return nil
		}
		parts, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return nil
		}
		for _, part := range parts {
			if part.Header.Type != sockDiagByFamily { // done, or an error
				return messages
			}
			messages = append(messages, append([]byte(nil), part.Data...))
		}
	}
	return messages
}
