//go:build linux && cgo

package nvml

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"llmtop/probes"
)

func TestIdentities(t *testing.T) {
	s := play(t, "driver", `
0 * count 6
0 * cuda 12090
0 * pci 0000:5e:00.0
0 0 architecture 10
0 0 virtual 1
0 0 cpus ff 1
0 0 nodes 4
0 1 pci 00010000:0B:1F.2
0 1 architecture 4294967295
0 1 virtual 2
0 2 virtual 3
0 2 pci 0001:01:00.0
0 2 architecture 99
0 3 virtual 4
0 3 nodes 3
0 3 pci 0001:02:00.0
0 4 error.PciInfo 999
0 5 cpus 0
0 5 pci 0001:03:00.0
`)
	if s == nil {
		return
	}
	for address, files := range map[string]map[string]string{
		"0000:5e:00.0":  {"numa_node": "1\n", "local_cpulist": "0-3\n"},
		"10000:0b:1f.2": {"numa_node": "-1\n", "local_cpulist": "0-63,128-191\n"},
		"0001:03:00.0":  {"local_cpulist": "\x1b[2J\n"},
	} {
		dir := filepath.Join(s.lib.root, "sys/bus/pci/devices", address)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	g := s.fresh(0, 1, 2, 3, 4, 5)
	type identity struct{ pci, architecture, virtual, cpus string }
	for i, want := range []identity{
		{"0000:5e:00.0", "blackwell", "passthrough", "0-7,64"},
		{"10000:0b:1f.2", "", "vgpu", "0-63,128-191"}, // from sysfs
		{"0001:01:00.0", "", "host-vgpu", ""},
		{"0001:02:00.0", "", "host-vsga", ""},
		{"", "", "", ""},
		{"0001:03:00.0", "", "", ""},
	} {
		d := g.Devices[i]
		if got := (identity{d.PCIAddress, d.Architecture, d.Virtual, d.CPUs}); got != want {
			t.Errorf("%d: %+v, want %+v", i, got, want)
		}
	}
	node := probes.NotExposed
	for i, want := range []any{1, node, node, node, node, node} { // 3: two nodes are as near
		readings(t, g.Devices[i], map[string]any{"numa_node": want})
	}
	if g.CUDA != "12.9" {
		t.Errorf("CUDA %q", g.CUDA)
	}
}

func TestNUMANodeByTheDriver(t *testing.T) {
	s := play(t, "driver", "0 * count 1\n0 * nodes 0 2\n")
	if s == nil {
		return
	}
	readings(t, s.fresh(0).Devices[0], map[string]any{"numa_node": 65})
}

func TestList(t *testing.T) {
	for want, mask := range map[string][]uint{
		"": {0, 0}, "0": {1}, "0-63": {^uint(0)}, "0-127": {^uint(0), ^uint(0)}, "1,3-4,63-64": {0x800000000000001a, 1}, "127": {0, 1 << 63},
	} {
		if got := list(mask); got != want {
			t.Errorf("%x: %q, want %q", mask, got, want)
		}
	}
}

func TestTopology(t *testing.T) {
	s := play(t, "driver", `
0 * count 6
0 0 field.91 2
0 0 nvlink.0 gpu 1
0 0 nvlink.1 gpu 1
0 1 field.91 3
0 1 nvlink.0 gpu 0
0 1 nvlink.1 gpu 0
0 1 nvlink.2 down
0 2 field.91 3
0 2 nvlink.0 switch
0 2 nvlink.1 switch
0 2 nvlink.2 switch
0 3 field.91 2
0 3 nvlink.0 switch
0 3 nvlink.1 switch
0 0 topology.1 10
0 1 topology.0 10
0 0 topology.2 20
0 2 topology.0 20
0 1 topology.2 50
0 2 topology.1 50
0 0 topology.3 30
0 3 topology.0 30
0 1 topology.3 40
0 3 topology.1 40
0 4 error.* 15
0 5 error.TopologyCommonAncestor 4
`)
	if s == nil {
		return
	}
	s.fresh(0, 1, 2, 3, 5)
	s.moveTo(1)
	s.fresh(0, 1, 2, 3, 5)
	want := []probes.GPULink{{From: 0, To: 1, Kind: "NV2"}, {From: 0, To: 2, Kind: "PXB"}, {From: 0, To: 3, Kind: "PHB"},
		{From: 1, To: 2, Kind: "SYS"}, {From: 1, To: 3, Kind: "NODE"}, {From: 2, To: 3, Kind: "NV2"}}
	if g := s.fresh(0, 1, 2, 3, 5); !slices.Equal(g.Links, want) {
		t.Errorf("links %v, want %v", g.Links, want)
	}
}

// The first readings do not wait for it.
func TestTopologyIsReadLater(t *testing.T) {
	s := play(t, "driver", script(t, "oldgpu.txt"))
	if s == nil {
		return
	}
	sys, err := s.lib.open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.lib.close()
	for round, want := range []int{0, 1} {
		for _, d := range sys.devices {
			if _, err := d.read(); err != nil {
				t.Fatal(err)
			}
		}
		if got := sys.links(); len(got) != want {
			t.Errorf("round %d: links %v, want %d", round, got, want)
		}
	}
}

// A driver of 2019 does not tell what is at the other end of a link but for its address.
func TestTopologyOfAnOldDriver(t *testing.T) {
	s := play(t, "old", script(t, "oldgpu.txt"))
	if s == nil {
		return
	}
	s.fresh(0, 1)
	s.moveTo(1)
	s.fresh(0, 1)
	if g := s.fresh(0, 1); !slices.Equal(g.Links, []probes.GPULink{{From: 0, To: 1, Kind: "NV12"}}) {
		t.Errorf("links %v", g.Links)
	}
}
