package discover

import (
	"net/netip"
	"path"
	"slices"

	"llmtop/probes"
)

// forwarders are programs that listen on a host's port for a container's.
var forwarders = []string{"docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "pasta.avx2", "conmon"}

func isForwarder(argv []string) bool {
	return len(argv) > 0 && slices.Contains(forwarders, path.Base(argv[0]))
}

// forwarded puts the process of a container in the place of the docker-proxy that listens
// for it: one engine, reached at the host's port, which needs no entering. It returns the
// list without the forwarders and the inner addresses that were left out, by process.
func forwarded(list []probes.Listener) ([]probes.Listener, map[int][]string) {
	aliases := map[int][]string{}
	drop := make([]bool, len(list))
	for i := range list {
		outer := &list[i]
		if !isForwarder(outer.Argv) {
			continue
		}
		if !outer.Addr.IsValid() { // a process whose sockets are not to be seen
			drop[i] = true
			outer = hostSocket(list, outer)
		}
		if outer == nil || outer.Other {
			continue
		}
		inner := target(list, outer.Argv)
		if inner < 0 {
			continue
		}
		in := list[inner]
		if !stands(outer, &in) {
			continue
		}
		for j := range list { // both of its families
			if l := &list[j]; l.PID == in.PID && l.Other && l.Addr.Port() == in.Addr.Port() && !drop[j] {
				drop[j] = true
				if e := endpointsOf(*l); len(e) > 0 && l.NetNS > 0 && !slices.Contains(aliases[in.PID], e[0].String()) {
					aliases[in.PID] = append(aliases[in.PID], e[0].String())
				}
			}
		}
		forwardOthers(list, in)
	}
	var kept []probes.Listener
	for i, l := range list {
		if !drop[i] {
			kept = append(kept, l)
		}
	}
	return kept, aliases
}

// forwardOthers gives the other family's docker-proxy of the same port the same process.
func forwardOthers(list []probes.Listener, in probes.Listener) {
	for j := range list {
		l := &list[j]
		if ip, port, ok := proxied(l.Argv); ok && l.Addr.IsValid() && port == in.Addr.Port() && slices.Contains(in.Addresses, ip) {
			stands(l, &in)
		}
	}
}

// stands gives a forwarder's socket the process of the container, unless it belongs to
// another user than root and the container's: anybody may call a program docker-proxy.
// Whose the socket is stays as it is.
func stands(outer, in *probes.Listener) bool {
	if outer.UID != 0 && outer.UID != in.UID {
		return false
	}
	outer.PID, outer.Argv, outer.Container, outer.Hidden = in.PID, in.Argv, in.Container, in.Hidden
	return true
}

// hostSocket is the socket of a docker-proxy whose sockets are not to be seen, by its port.
func hostSocket(list []probes.Listener, p *probes.Listener) *probes.Listener {
	port, ok := flagPort(p.Argv, []string{"-host-port"})
	if !ok {
		return nil
	}
	for i := range list {
		if l := &list[i]; l.PID == 0 && !l.Other && l.Addr.Port() == port {
			l.PID, l.Argv = p.PID, p.Argv
			return l
		}
	}
	return nil
}

// proxied is where a docker-proxy sends what it gets.
func proxied(argv []string) (ip netip.Addr, port uint16, ok bool) {
	if len(argv) == 0 || path.Base(argv[0]) != "docker-proxy" {
		return ip, 0, false
	}
	address, _ := flag(argv, "-container-ip")
	ip, err := netip.ParseAddr(address)
	port, ok = flagPort(argv, []string{"-container-port"})
	return ip, port, ok && err == nil
}

// target is the place of the socket that a docker-proxy stands for, -1 for none.
func target(list []probes.Listener, argv []string) int {
	ip, port, ok := proxied(argv)
	if !ok {
		return -1
	}
	return slices.IndexFunc(list, func(l probes.Listener) bool {
		return l.Other && l.PID > 0 && l.Addr.Port() == port && slices.Contains(l.Addresses, ip)
	})
}
