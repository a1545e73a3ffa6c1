package host

import (
	"fmt"
	"strings"
	"testing"
)

// hugeHost is a machine of 512 cores and 8 memory nodes, with 200 disks, and the
// interfaces of a thousand containers.
func hugeHost(t testing.TB) string {
	root := tree(t, "host.txtar")
	var stat, disks, dev strings.Builder
	stat.WriteString("cpu  1000 200 300 8000 500 20 30 40 5 6\n")
	for n := range 512 {
		fmt.Fprintf(&stat, "cpu%d 250000 5000 75000 2000000 125 5 7000 10 0 0\n", n)
	}
	stat.WriteString("intr 123456789" + strings.Repeat(" 0", 20000) + "\nctxt 7\nbtime 1796000000\nprocs_running 1\nprocs_blocked 0\n")
	for n := range 200 {
		fmt.Fprintf(&disks, " 259 %d nvme%dn1 2096949 317646 52963714 1908620 684329 701072 80149216 698948 0 413288 2811250 711550 114 157138568 156927 80659 46754\n", n, n)
	}
	for n := range 1000 {
		fmt.Fprintf(&dev, "veth%06x: 765659920 27940 0 0 0 0 0 0 1860063 18825 0 0 0 0 0 0\n", n)
	}
	for n := range 8 {
		put(t, root, fmt.Sprintf("sys/devices/system/node/node%d/cpulist", n), fmt.Sprintf("%d-%d\n", n*64, n*64+63))
		put(t, root, fmt.Sprintf("sys/devices/system/node/node%d/meminfo", n), fmt.Sprintf("Node %d MemTotal: 100 kB\nNode %d MemFree: 10 kB\n", n, n))
	}
	put(t, root, "proc/stat", stat.String())
	put(t, root, "proc/diskstats", disks.String())
	put(t, root, "proc/net/dev", dev.String()+"  eth0: 765659920 27940 0 0 0 0 0 0 1860063 18825 0 0 0 0 0 0\n")
	return root
}

func TestHugeHost(t *testing.T) {
	h := readHost(t, hugeHost(t))
	if h.CPUs != 512 || len(h.NUMANodes) != 8 || h.NUMANodes[7].CPUs != "448-511" || len(h.Disks) != maxDisks || len(h.NICs) != 3 || h.Runnable.Or(-1) != 1 {
		t.Errorf("%d cores, nodes %+v, %d disks, %d interfaces", h.CPUs, h.NUMANodes, len(h.Disks), len(h.NICs))
	}
}

func BenchmarkHugeHost(b *testing.B) { benchmarkHost(b, hugeHost(b)) }
