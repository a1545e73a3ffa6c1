package host

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"llmtop/probes"
)

// Bounds of InfiniBand: adapters and ports that are looked at.
const (
	maxAdapters     = 64
	maxAdapterPorts = 4
)

// traffic is what went through a port. Ports count data in words of four bytes, whatever
// the number of lanes (kernel documentation, ABI/stable/sysfs-class-infiniband).
type traffic struct{ rx, tx probes.Opt[float64] }

const portWord = 4

// ports are the ports of InfiniBand adapters, also of those that speak RDMA over
// Ethernet: there the interface does not count RDMA.
func ports(root string) (list []link) {
	base := filepath.Join(root, "sys/class/infiniband")
	for _, adapter := range entries(base, maxAdapters) {
		for _, port := range entries(filepath.Join(base, adapter, "ports"), maxAdapterPorts) {
			list = append(list, portOf(filepath.Join(base, adapter, "ports", port), adapter+":"+port))
		}
	}
	return list
}

func portOf(dir, name string) link {
	l := link{port: dir, rank: rankPort}
	counter := func(file string) probes.Opt[float64] { return numberOf(dir+"/counters/"+file, 1) }
	l.nic = probes.NIC{
		Name: probes.Printable(name, 32), Kind: "infiniband",
		SpeedBytesPerS: portRate(line(dir + "/rate")),
		RxDropsTotal:   probes.None[float64](probes.NotExposed),
		TxDropsTotal:   counter("port_xmit_discards"),
		ErrorsTotal:    sum(counter("port_rcv_errors"), counter("symbol_error"), counter("local_link_integrity_errors")),
		Up:             strings.HasPrefix(line(dir+"/state"), "4:"), // "4: ACTIVE"
	}
	if !l.nic.Up {
		l.rank += rankDown
	}
	return l
}

// portRate reads "400 Gb/sec (4X NDR)".
func portRate(text string) probes.Opt[float64] {
	number, _, ok := strings.Cut(text, " Gb/sec")
	gigabits, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || gigabits <= 0 {
		return probes.None[float64](probes.NotExposed)
	}
	return probes.Some(gigabits * 1e9 / 8)
}

// numberOf reads a file that holds one number.
func numberOf(path string, scale float64) probes.Opt[float64] {
	text, err := read(path, nil)
	if err != nil {
		return probes.None[float64](why(err))
	}
	return reading([]byte(strings.TrimSpace(string(text))), scale)
}

// readPorts reads the traffic of the ports. Adapters are asked for it by their drivers: a
// count that comes late would be dated wrongly, and is left out.
func (n *nics) readPorts(links []link, list []probes.NIC, now time.Time) {
	var dirs []string
	var at []int
	for i, l := range links {
		if l.port != "" {
			dirs, at = append(dirs, l.port), append(at, i)
		}
	}
	if len(dirs) == 0 {
		return
	}
	counts, ok := n.ports.fresh(now, func() []traffic {
		out := make([]traffic, len(dirs))
		for i, dir := range dirs {
			out[i] = traffic{numberOf(dir+"/counters/port_rcv_data", portWord), numberOf(dir+"/counters/port_xmit_data", portWord)}
		}
		return out
	})
	stale := probes.None[float64](probes.Stale)
	for i, place := range at {
		if list[place].RxBytesTotal, list[place].TxBytesTotal = stale, stale; ok {
			list[place].RxBytesTotal, list[place].TxBytesTotal = counts[i].rx, counts[i].tx
		}
	}
}
