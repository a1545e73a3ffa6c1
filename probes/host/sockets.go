package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	stateListen = "0A"
	maxSockets  = 1 << 20 // lines read of a socket table
	// The kernel lists the sockets that listen first. After so many others none is expected.
	maxOthers  = 4096
	acceptFlag = 0x10000 // __SO_ACCEPTCON, a Unix socket that listens
)

// tcpSocket is a line of /proc/net/tcp or tcp6.
type tcpSocket struct {
	at    netip.AddrPort
	uid   int
	inode uint64
}

// eachListening calls f for the sockets in a table that listen.
func eachListening(ctx context.Context, table string, f func(tcpSocket)) error {
	others := 0
	return eachLine(ctx, table, func(line []byte) bool {
		if !bytes.Contains(line, []byte(" "+stateListen+" ")) { // most lines of a busy host
			others++
			return others < maxOthers
		}
		fields := strings.Fields(string(line))
		if len(fields) < 10 || fields[3] != stateListen {
			return true
		}
		at, ok := socketAddr(fields[1])
		inode, err := strconv.ParseUint(fields[9], 10, 64)
		if !ok || err != nil || inode == 0 {
			return true
		}
		uid, err := strconv.Atoi(fields[7])
		if err != nil {
			uid = -1
		}
		others = 0
		f(tcpSocket{at, uid, inode})
		return true
	})
}

// eachUnix calls f for the Unix sockets with a path that listen: the path as it was given
// when the socket was made, which may have blanks in it and be a relative one. Any user can
// write lines into this table: a line break in a name stands in it as it is.
func eachUnix(ctx context.Context, table string, f func(inode uint64, path string)) error {
	return eachLine(ctx, table, func(line []byte) bool {
		fields := make([]string, 7)
		rest := string(line)
		for i := range fields {
			fields[i], rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
		}
		if rest == "" || rest[0] == '@' { // without a name, or with one that is no path
			return true
		}
		flags, err := strconv.ParseUint(fields[3], 16, 32)
		inode, err2 := strconv.ParseUint(fields[6], 10, 64)
		if err == nil && err2 == nil && flags&acceptFlag != 0 {
			f(inode, rest)
		}
		return true
	})
}

// eachLine calls f for the lines of a table of the kernel until f has enough.
func eachLine(ctx context.Context, path string, f func(line []byte) bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, 256<<20))
	for n := 0; n < maxSockets && lines.Scan(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !f(lines.Bytes()) {
			return nil
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

// socketInode reads "socket:[1042]", what a file descriptor of a socket points to.
func socketInode(link string) (uint64, bool) {
	inode, ok := strings.CutPrefix(link, "socket:[")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(inode, "]"), 10, 64)
	return n, err == nil
}
