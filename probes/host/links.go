package host

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

const (
	maxInterfaces = 4096 // a host of containers has one or two for each
	maxRoutes     = 4096 // a router may have a million
)

// Ranks of links; what is down comes after all of them.
const (
	rankPhysical = iota
	rankPort
	rankVirtual // that the default route leads through, or that bundles others
	rankShared  // part of another one: a virtual function, IP over InfiniBand
	rankOther
	rankDown = 16
)

// links are the interfaces and ports that are worth telling, physical ones first. Of
// those that only lead to containers on this host none is, unless there are no others:
// in a container.
func links(root string) []link {
	found := ports(root)
	var others []string
	through, routed := routes(root)
	for _, name := range interfaces(root) {
		if kind, rank := kindOf(root, name, through); rank != rankOther {
			found = append(found, interfaceOf(root, name, kind, rank, routed))
		} else {
			others = append(others, name)
		}
	}
	if len(found) == 0 {
		for _, name := range others[:min(len(others), maxNICs)] {
			kind, rank := kindOf(root, name, through)
			found = append(found, interfaceOf(root, name, kind, rank, routed))
		}
	}
	slices.SortFunc(found, func(a, b link) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.nic.Name, b.nic.Name))
	})
	return found[:min(len(found), maxNICs)]
}

// interfaces lists those of the network namespace, but for the loopback.
func interfaces(root string) (names []string) {
	_ = eachLine(context.Background(), filepath.Join(root, "proc/net/dev"), func(line []byte) bool {
		name, _, ok := bytes.Cut(bytes.TrimLeft(line, " "), []byte(":"))
		if ok && len(name) > 0 && string(name) != "lo" && bytes.IndexByte(name, '/') < 0 {
			names = append(names, string(name))
		}
		return len(names) < maxInterfaces
	})
	return names
}

// kindOf looks what an interface is, with as few calls as can be: most are of containers.
func kindOf(root, name string, through map[string]bool) (kind string, rank int) {
	dir := filepath.Join(root, "sys/class/net", name)
	there := func(file string) bool {
		_, err := os.Lstat(dir + "/" + file)
		return err == nil
	}
	switch {
	case !there("device"):
		if through[name] || there("bonding") {
			return "virtual", rankVirtual
		}
		return "virtual", rankOther
	case line(dir+"/type") == "32": // ARPHRD_INFINIBAND
		return "infiniband", rankShared
	case there("device/physfn"):
		return "ethernet", rankShared
	}
	return "ethernet", rankPhysical
}

// interfaceOf looks at one interface. Where /sys does not show it, that a route leads
// through it tells that it is up.
func interfaceOf(root, name, kind string, rank int, routed map[string]bool) link {
	dir := filepath.Join(root, "sys/class/net", name)
	l := link{name: name, rank: rank}
	l.nic = probes.NIC{Name: probes.Printable(name, 32), Kind: kind, SpeedBytesPerS: speed(dir + "/speed")}
	switch line(dir + "/operstate") {
	case "up":
		l.nic.Up = true
	case "unknown":
		flags, err := strconv.ParseUint(line(dir+"/flags"), 0, 32)
		l.nic.Up = err == nil && flags&1 != 0 // IFF_UP
	case "":
		l.nic.Up = routed[name]
	}
	if !l.nic.Up {
		l.rank += rankDown
	}
	return l
}

// speed is a link's, told in megabits a second: -1 by one that has none.
func speed(path string) probes.Opt[float64] {
	text, err := read(path, nil)
	if err != nil { // EINVAL by one that is down, or that never has one
		return probes.None[float64](why(err))
	}
	megabits, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32)
	if err != nil || megabits <= 0 {
		return probes.None[float64](probes.NotExposed)
	}
	return probes.Some(float64(megabits) * 1e6 / 8)
}

// routes are the interfaces that a default route leads through, and those that any does;
// by IPv6 only where IPv4 has no default.
func routes(root string) (through, routed map[string]bool) {
	through, routed = map[string]bool{}, map[string]bool{}
	each := func(table string, f func(fields []string) (name string, isDefault bool)) {
		n := 0
		_ = eachLine(context.Background(), filepath.Join(root, "proc/net", table), func(line []byte) bool {
			if name, isDefault := f(strings.Fields(string(line))); name != "" && name != "lo" {
				routed[name] = true
				if isDefault {
					through[name] = true
				}
			}
			n++
			return n < maxRoutes
		})
	}
	each("route", func(f []string) (string, bool) {
		if len(f) < 8 || f[0] == "Iface" {
			return "", false
		}
		return f[0], f[1] == "00000000" && f[7] == "00000000"
	})
	if len(through) == 0 {
		each("ipv6_route", func(f []string) (string, bool) {
			if len(f) < 10 {
				return "", false
			}
			return f[9], f[1] == "00" && strings.Trim(f[0], "0") == "" && strings.Trim(f[4], "0") != ""
		})
	}
	return through, routed
}
