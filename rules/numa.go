package rules

import (
	"strconv"
	"strings"

	"llmtop/probes"
)

// maxCPURanges bounds a list of cores, and maxCPUList its text.
const (
	maxCPURanges = 256
	maxCPUList   = 4096
)

// cpuRange are the cores from first to last, both included.
type cpuRange struct{ first, last int }

// cpuRanges reads a list of cores as the kernel writes it, ascending: "0-31,64-95". What is
// no such list gives nil.
func cpuRanges(list string) (out []cpuRange) {
	if list = strings.TrimSpace(list); list == "" || len(list) > maxCPUList {
		return nil
	}
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.ParseUint(low, 10, 20)
		last, err2 := strconv.ParseUint(high, 10, 20)
		if err != nil || err2 != nil || last < first || len(out) == maxCPURanges || len(out) > 0 && int(first) <= out[len(out)-1].last {
			return nil
		}
		out = append(out, cpuRange{int(first), int(last)})
	}
	return out
}

func cpuCount(list []cpuRange) (count int) {
	for _, r := range list {
		count += r.last - r.first + 1
	}
	return count
}

// cpusShared is how many cores are in both lists.
func cpusShared(a, b []cpuRange) (count int) {
	for len(a) > 0 && len(b) > 0 {
		count += max(0, min(a[0].last, b[0].last)-max(a[0].first, b[0].first)+1)
		if a[0].last < b[0].last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return count
}

// numaRemote goes over the processes that hold memory of a device and are members of the
// engine's. One that may run on all cores of a machine with two nodes has half of them far away.
func (n *now) numaRemote() probes.Opt[float64] {
	p := n.point.Process
	switch {
	case p == nil || n.point.GPU == nil || !n.gpus.joined:
		return missing()
	case !n.fresh(p.At):
		return probes.None[float64](probes.Stale)
	}
	out := missing()
	for i := range n.point.GPU.Processes {
		user := &n.point.GPU.Processes[i]
		m := memberIn(p, user.PID)
		if m == nil || m.AllowedCPUs == "" {
			continue
		}
		near, known := n.nearCPUs(user.GPU)
		if !known {
			continue
		}
		allowed := n.gpus.cpus.ranges(m.AllowedCPUs)
		if all := cpuCount(allowed); all > 0 {
			out = larger(out, probes.Some(float64(all-cpusShared(allowed, near))/float64(all)))
		}
	}
	return out
}

// nearCPUs are the cores near to a device: as it or the device that it is a part of tells
// itself, else those of its NUMA node.
func (n *now) nearCPUs(uuid string) ([]cpuRange, bool) {
	d := n.gpus.find(uuid)
	if d != nil && d.CPUs == "" && d.Parent != "" {
		d = n.gpus.find(d.Parent)
	}
	if d == nil {
		return nil, false
	}
	list := d.CPUs
	if node, ok := d.NUMANode.Get(); ok && list == "" && n.point.Host != nil {
		for _, m := range n.point.Host.NUMANodes {
			if float64(m.Node) == node {
				list = m.CPUs
			}
		}
	}
	near := n.gpus.cpus.ranges(list)
	return near, len(near) > 0
}

// cpuLists are lists of cores that have been read: they are the same at each tick.
type cpuLists map[string][]cpuRange

// maxCPULists bounds them: as many as there may be devices and members with lists of their own.
const maxCPULists = 256

func (c *cpuLists) ranges(list string) []cpuRange {
	if known, ok := (*c)[list]; ok {
		return known
	}
	if *c == nil || len(*c) >= maxCPULists {
		*c = cpuLists{}
	}
	read := cpuRanges(list)
	(*c)[list] = read
	return read
}
