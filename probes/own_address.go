package probes

import (
	"net"
	"net/netip"
)

// ownAddress reports an IP address that an interface of this host has. A name is none: to
// look one up is not this package's business, and NO_PROXY is there for it.
func ownAddress(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		if own, ok := netip.AddrFromSlice(n.IP); ok && own.Unmap() == ip {
			return true
		}
	}
	return false
}
