package main

import (
	"fmt"
	"net"
)

// checkAddr refuses an address without a host and port: net would listen somewhere, for everyone.
func checkAddr(addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return usage(fmt.Errorf("--addr %q: must be host:port, such as 127.0.0.1:8000", addr), "")
	}
	return nil
}

// exposed says what others can reach at an address that is not loopback's alone;
// empty: nothing.
func exposed(a net.Addr, key bool) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return ""
	}
	if key {
		return fmt.Sprintf("%s is open to the network; /metrics and /debug ask for no key", a)
	}
	return fmt.Sprintf("%s is open to the network and asks for no key (set %s)", a, apiKeyVariable)
}
