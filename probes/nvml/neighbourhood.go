//go:build linux && cgo

package nvml

import (
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// What a driver may tell of CPUs and NUMA nodes.
const (
	mostCPUs  = 8192
	mostNodes = 1024
)

// readNeighbourhood finds the host's CPUs and NUMA node next to a device, from the driver
// or from sysfs. nvmlDeviceGetNumaNodeId is not asked: it is the node that the GPU's own
// memory forms on boards such as Grace Hopper.
func (d *nvmlDevice) readNeighbourhood(r *reader) {
	h, k := d.handle, &d.kept
	if k.CPUs == "" {
		var mask []uint
		if r.call("nvmlDeviceGetCpuAffinity", func() (ret nvml.Return) { mask, ret = h.GetCpuAffinity(mostCPUs); return }) == nvml.SUCCESS {
			k.CPUs = list(mask)
		}
	}
	if k.CPUs == "" {
		k.CPUs = cpuList(d.sysfs("local_cpulist"))
	}
	once(&k.NUMANode, func() probes.Opt[float64] {
		if n, err := strconv.Atoi(d.sysfs("numa_node")); err == nil && n >= 0 && n < mostNodes { // -1: it has none
			return probes.Some(float64(n))
		}
		var mask []uint
		ret := r.call("nvmlDeviceGetMemoryAffinity", func() (ret nvml.Return) {
			mask, ret = h.GetMemoryAffinity(mostNodes, nvml.AFFINITY_SCOPE_NODE)
			return
		})
		if n, err := strconv.Atoi(list(mask)); ret == nvml.SUCCESS && err == nil { // one, not several
			return probes.Some(float64(n))
		}
		return probes.None[float64](probes.NotExposed)
	})
}

// sysfs is what a file of the device holds, without the line's end; empty: nothing.
func (d *nvmlDevice) sysfs(name string) string {
	if d.kept.PCIAddress == "" {
		return ""
	}
	f, err := os.Open(filepath.Join(d.root, "sys/bus/pci/devices", d.kept.PCIAddress, name))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func cpuList(text string) string {
	if len(text) > 1000 || strings.Trim(text, "0123456789,-") != "" {
		return ""
	}
	return text
}

// list writes the bits that are set as Linux does: "0-31,64-95".
func list(mask []uint) string {
	var b strings.Builder
	set := func(i int) bool {
		return i < len(mask)*bits.UintSize && mask[i/bits.UintSize]>>(i%bits.UintSize)&1 == 1
	}
	for i := 0; i < len(mask)*bits.UintSize; i++ {
		if !set(i) {
			continue
		}
		first := i
		for set(i + 1) {
			i++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		if b.WriteString(strconv.Itoa(first)); i > first {
			fmt.Fprintf(&b, "-%d", i)
		}
	}
	return b.String()
}
