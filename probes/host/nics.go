package host

import (
	"bytes"
	"time"

	"llmtop/probes"
)

// maxNICs bounds the interfaces and ports that are told.
const maxNICs = 16

// nics reads the network interfaces of the namespace that llmtop runs in, and the ports
// of InfiniBand, whose traffic the interfaces do not count.
type nics struct {
	links aside[[]link]    // speeds come from drivers, which may hang
	ports aside[[]traffic] // so do the counters of ports
	field [20][]byte
}

// link is what seldom changes of an interface or of a port.
type link struct {
	nic  probes.NIC // without the counters that are read each time
	name string     // an interface's, as the kernel has it
	rank int        // lower is more worth telling
	port string     // its directory; "" for an interface
}

// read reads what is worth telling; file reads one of the machine's files.
func (n *nics) read(root string, now time.Time, file func(string) ([]byte, error)) []probes.NIC {
	links, ok := n.links.every(slowly, now, func() []link { return links(root) })
	if len(links) == 0 {
		return nil
	}
	list := make([]probes.NIC, len(links))
	for i, l := range links {
		if list[i] = l.nic; !ok {
			list[i].SpeedBytesPerS = probes.None[float64](probes.Stale)
		}
	}
	n.readInterfaces(links, list, file)
	n.readPorts(links, list, now)
	return list
}

// readInterfaces reads /proc/net/dev: received bytes, packets, errors, drops and four
// more, then the same of what was sent.
func (n *nics) readInterfaces(links []link, list []probes.NIC, file func(string) ([]byte, error)) {
	text, err := file("proc/net/dev")
	none := probes.None[float64](probes.Lost)
	if err != nil {
		none = probes.None[float64](why(err))
	}
	at := make(map[string]*probes.NIC, len(links))
	for i, l := range links {
		if nic := &list[i]; l.port == "" {
			at[l.name] = nic
			nic.RxBytesTotal, nic.TxBytesTotal, nic.RxDropsTotal, nic.TxDropsTotal, nic.ErrorsTotal = none, none, none, none, none
		}
	}
	for len(text) > 0 {
		var line []byte
		line, text = nextLine(text)
		name, numbers, _ := bytes.Cut(bytes.TrimLeft(line, " "), []byte(":"))
		nic := at[string(name)]
		if nic == nil {
			continue
		}
		if f := words(numbers, n.field[:0]); len(f) >= 12 {
			nic.RxBytesTotal, nic.TxBytesTotal = reading(f[0], 1), reading(f[8], 1)
			nic.RxDropsTotal, nic.TxDropsTotal = reading(f[3], 1), reading(f[11], 1)
			nic.ErrorsTotal = sum(reading(f[2], 1), reading(f[10], 1))
		}
	}
}

// sum adds up those readings that were made; when none was, it is the first.
func sum(readings ...probes.Opt[float64]) probes.Opt[float64] {
	total, seen := 0.0, false
	for _, r := range readings {
		v, ok := r.Get()
		total, seen = total+v, seen || ok
	}
	if !seen {
		return readings[0]
	}
	return probes.Some(total)
}
