//go:build linux && cgo

package nvml

import (
	"fmt"
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// topology is how the devices are joined. Each device's goroutine adds what it can tell, once,
// after it was read: so the first readings do not wait for it, and no device waits for
// another that is stuck.
type topology struct {
	guard guard

	mu      sync.Mutex
	devices map[int]*joined
	levels  map[[2]int]string // for each two, the lower index first; empty: not told
	links   []probes.GPULink  // a new slice for each change
}

// joined is one device with its NVLinks.
type joined struct {
	handle   nvml.Device
	address  string
	switched int            // NVLinks to a switch
	peers    map[string]int // NVLinks to a device, by its address
}

func newTopology(g guard) *topology {
	return &topology{guard: g, devices: map[int]*joined{}, levels: map[[2]int]string{}}
}

// add asks for a device's links, the first time, and for the way to each other device that
// was added before.
func (t *topology) add(d *nvmlDevice) {
	t.mu.Lock()
	_, known := t.devices[d.index]
	t.mu.Unlock()
	if links := d.kept.NVLinksTotal; known || !links.Seen() && links.Why() == probes.NotSeen {
		return
	}
	own := t.join(d)
	t.mu.Lock()
	t.devices[d.index] = own
	others := map[int]nvml.Device{}
	for i, o := range t.devices {
		if i != d.index {
			others[i] = o.handle
		}
	}
	t.mu.Unlock()
	for i, other := range others {
		level := t.level(own.handle, other)
		t.mu.Lock()
		t.levels[[2]int{min(i, d.index), max(i, d.index)}] = level
		t.mu.Unlock()
	}
	t.mu.Lock()
	t.links = t.all()
	t.mu.Unlock()
}

// join follows a device's NVLinks. Errors about the other end say nothing about the device.
func (t *topology) join(d *nvmlDevice) *joined {
	r := reader{guard: t.guard, refused: map[question]nvml.Return{}}
	j := &joined{handle: d.handle, address: d.kept.PCIAddress, peers: map[string]int{}}
	for link := range min(int(d.kept.NVLinksTotal.Or(0)), mostLinks) {
		if on, _ := d.linkState(&r, link); !on {
			continue
		}
		var to nvml.IntNvLinkDeviceType
		ret := r.callOf("nvmlDeviceGetNvLinkRemoteDeviceType", uint32(link), func() (ret nvml.Return) { to, ret = d.handle.GetNvLinkRemoteDeviceType(link); return })
		if ret == nvml.SUCCESS && to == nvml.NVLINK_DEVICE_TYPE_SWITCH {
			j.switched++
			continue
		}
		var p nvml.PciInfo
		if r.callOf("nvmlDeviceGetNvLinkRemotePciInfo", uint32(link), func() (ret nvml.Return) { p, ret = d.handle.GetNvLinkRemotePciInfo(link); return }) == nvml.SUCCESS {
			j.peers[pciAddress(&p)]++
		}
	}
	return j
}

var levelNames = map[nvml.GpuTopologyLevel]string{
	nvml.TOPOLOGY_INTERNAL: "PIX", nvml.TOPOLOGY_SINGLE: "PIX", nvml.TOPOLOGY_MULTIPLE: "PXB",
	nvml.TOPOLOGY_HOSTBRIDGE: "PHB", nvml.TOPOLOGY_NODE: "NODE", nvml.TOPOLOGY_SYSTEM: "SYS",
}

func (t *topology) level(a, b nvml.Device) string {
	var level nvml.GpuTopologyLevel
	ret := t.guard.call("nvmlDeviceGetTopologyCommonAncestor", func() (ret nvml.Return) { level, ret = a.GetTopologyCommonAncestor(b); return })
	if ret != nvml.SUCCESS {
		return ""
	}
	return levelNames[level]
}

// all is the way between each two devices: NVLinks where there are some, direct or through
// switches, else PCIe.
func (t *topology) all() []probes.GPULink {
	var out []probes.GPULink
	for from := range maxDevices {
		a, ok := t.devices[from]
		for to := from + 1; ok && to < maxDevices; to++ {
			b, ok := t.devices[to]
			if !ok {
				continue
			}
			kind := t.levels[[2]int{from, to}]
			n := max(a.peers[b.address], b.peers[a.address])
			if n == 0 {
				n = min(a.switched, b.switched)
			}
			if n > 0 {
				kind = fmt.Sprintf("NV%d", n)
			}
			if kind != "" {
				out = append(out, probes.GPULink{From: from, To: to, Kind: kind})
			}
		}
	}
	return out
}

func (t *topology) known() []probes.GPULink {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.links
}
