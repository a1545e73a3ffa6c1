//go:build linux && cgo

package nvml

import (
	"testing"

	"llmtop/probes"
)

func TestMIG(t *testing.T) {
	s := play(t, "driver", script(t, "mig.txt")+`
12 0/1 gpu_instance 0
12 0/1 error.* 2
14 0/3 gpu_instance 5
14 0/3 uuid MIG-new
14 0/3 name odd
14 0/3 slices 2 1 36000
14 0/3 memory_total 37580963840
14 0/3 memory_used 0
14 0/3 error.GpmMigSampleGet 4
26 0/2 gpu_instance 0
26 0/2 error.* 2
30 0 error.* 15
`)
	if s == nil {
		return
	}
	s.fresh(0)
	s.moveTo(1)
	g := s.fresh(0)
	if len(g.Devices) != 4 {
		t.Fatalf("%d devices, want one and its three instances", len(g.Devices))
	}
	whole, part := g.Devices[0], g.Devices[1]
	if !whole.MIG || whole.Instance != "" || whole.Parent != "" {
		t.Errorf("the device: %+v", whole)
	}
	if id, ok := part.InstanceID.Get(); !ok || whole.InstanceID.Seen() {
		t.Errorf("an instance's number: %v, %v", id, ok)
	}
	readings(t, whole, map[string]any{"kernel_active_ratio": unsupported, "memory_active_ratio": unsupported, "power_watts": 612,
		"rows_remapped_corrected": unsupported, "sm_active_ratio": .8})
	if part.UUID != "MIG-00000000-0000-0000-0000-000000000000" || part.Instance != "4g.71gb" || part.Parent != whole.UUID || part.Index != 0 ||
		part.MIG || part.PCIAddress != whole.PCIAddress || part.Source != "nvml" || part.ActivityFrom != "gpm" || !part.At.Equal(s.now()) {
		t.Errorf("an instance: %+v", part)
	}
	readings(t, part, map[string]any{"kernel_active_ratio": unsupported, "power_watts": unsupported, "memory_used_bytes": 60000000000,
		"memory_total_bytes": 76101451776, "sm_active_ratio": .88, "dram_active_ratio": .74, "numa_node": 0})
	readings(t, g.Devices[3], map[string]any{"sm_active_ratio": 0, "tensor_active_ratio": 0})

	for _, at := range []float64{12, 13, 24, 25} { // one goes, another comes
		s.moveTo(at)
		g = s.fresh(0)
	}
	if len(g.Devices) != 4 || g.Devices[3].UUID != "MIG-new" || g.Devices[3].Instance != "1c.2g.35gb" || g.Devices[2].Instance != "1g.18gb" {
		t.Fatalf("%+v", g.Devices)
	}
	readings(t, g.Devices[3], map[string]any{"memory_total_bytes": 37580963840, "sm_active_ratio": noPermission})
	check(t, reading{"SM of one that stayed", g.Devices[1].SMActiveRatio, .88})

	for _, at := range []float64{26, 27} { // one goes that was not looked for yet
		s.moveTo(at)
		g = s.fresh(0)
	}
	if len(g.Devices) != 3 {
		t.Errorf("%d devices after an instance went, want 3", len(g.Devices))
	}

	s.moveTo(30)
	g = s.readUntil(func(g *probes.GPU) bool { return g.Devices[0].Err != "" })
	for _, d := range g.Devices {
		if d.Err == "" || d.MemoryUsedBytes.Why() != probes.Lost || d.MemoryUsedBytes.Seen() {
			t.Errorf("an instance of a lost device: %+v", d)
		}
	}
}

// A device that could be divided and is not is not taken for one that is, and the other way
// round; what one may not see of a divided device is no permission.
func TestMIGMode(t *testing.T) {
	s := play(t, "driver", `
0 * count 4
0 * util 50
0 * gpm.2 50
0 0 mig 0
0 2 mig 1
0 2 error.GpmSampleGet 4
0 3 mig 0
12 3 mig 1
`)
	if s == nil {
		return
	}
	g := s.fresh(0, 1, 2, 3)
	for i, mig := range []bool{false, false, true, false} {
		if d := g.Devices[i]; d.MIG != mig || d.KernelActiveRatio.Seen() == mig {
			t.Errorf("%d: %+v", i, d)
		}
	}
	readings(t, g.Devices[2], map[string]any{"sm_active_ratio": noPermission})
	s.moveTo(13)
	if d := s.fresh(3).Devices[3]; !d.MIG {
		t.Error("a change of the mode was not seen")
	}
}
