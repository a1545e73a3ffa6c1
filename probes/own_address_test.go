package probes

import (
	"net"
	"testing"
)

// A proxy of the environment is not for what is on this host.
func TestNoProxyToThisHost(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip("no addresses here:", err)
	}
	list := map[string]bool{"gpu-7": true, "203.0.113.77": true, "127.0.0.1": false, "localhost": false, "[::1]": false}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil {
			list[n.IP.String()] = false
		}
	}
	for host, proxied := range list {
		e, err := ParseEndpoint(host + ":8000")
		if err != nil {
			t.Fatal(err)
		}
		if got := NewTransport(e, Access{}).Proxy != nil; got != proxied {
			t.Errorf("%s: by a proxy: %v", host, got)
		}
	}
}
