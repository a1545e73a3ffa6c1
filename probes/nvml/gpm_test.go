//go:build linux && cgo

package nvml

import "testing"

// Each metric has a status of its own, a value may be no number, and more than all of
// something is either a rounding or garbage.
func TestGPMMetrics(t *testing.T) {
	s := play(t, "driver", `
0 * count 3
0 0 gpm.1 100.4
0 0 gpm.2 nan
0 0 gpm.3 0
0 0 gpm.5 340
0 0 gpm.10 71
0 0 gpm.20 0
0 0 gpm.61 nan
0 1 gpm.2 50
0 1 error.GpmSampleGet 999
2 1 error.GpmSampleGet 0
0 2 gpm.2 50
0 2 error.GpmMetricsGet 4
`)
	if s == nil {
		return
	}
	s.fresh(0, 1, 2)
	s.moveTo(1)
	g := s.fresh(0, 1, 2)
	readings(t, g.Devices[0], map[string]any{
		"graphics_active_ratio": 1, "sm_active_ratio": notSeen, "sm_occupancy_ratio": 0, "tensor_active_ratio": notSeen,
		"dram_active_ratio": .71, "pcie_tx_bytes_per_second": 0, "pcie_rx_bytes_per_second": unsupported, "nvlink_tx_bytes_per_second": notSeen})
	readings(t, g.Devices[1], map[string]any{"sm_active_ratio": notSeen})
	readings(t, g.Devices[2], map[string]any{"sm_active_ratio": noPermission, "dram_active_ratio": noPermission})
	if from := g.Devices[2].ActivityFrom; g.Devices[0].ActivityFrom != "gpm" || from != "" {
		t.Errorf("activity of 0 from %q, of 2 from %q", g.Devices[0].ActivityFrom, from)
	}
	for _, at := range []float64{2, 3} { // an error that passes costs a pair of samples, no more
		s.moveTo(at)
		g = s.fresh(1)
	}
	readings(t, g.Devices[1], map[string]any{"sm_active_ratio": .5})
}
