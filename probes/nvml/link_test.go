//go:build linux && cgo

package nvml

import (
	"testing"
	"time"

	"llmtop/probes"
)

func TestNVLinks(t *testing.T) {
	s := play(t, "driver", `
0 * count 5
0 * gpm 0
# 0: totals of the device; a link is down
0 0 field.91 3
0 0 nvlink.0 gpu 1
0 0 nvlink.1 down
0 0 nvlink.2 gpu 1
0 0 field.52 3
0 0 field.59 1
0 0 field.45 10
# 1: each link by itself
0 1 field.91 2
0 1 nvlink.0 gpu 0
0 1 nvlink.1 gpu 0
0 1 field.161 2
0 1 field.161.1 5
0 1 field.163 4
# 2: NVLink 5
0 2 field.91 2
0 2 nvlink.0 switch
0 2 nvlink.1 switch
0 2 field.208 1
0 2 field.215.1 6
# 3: nobody counts, and nobody may ask for the states
0 3 field.91 2
0 3 error.NvLinkState 4
# 4: one of its counters fails: no sum, which would fall and rise
0 4 field.91 1
0 4 nvlink.0 switch
0 4 field.52 3
0 4 field.59 error 999
`)
	if s == nil {
		return
	}
	g := s.fresh(0, 1, 2, 3, 4)
	for i, want := range []map[string]any{
		{"nvlinks_active": 2, "nvlinks_total": 3, "nvlink_errors_total": 14},
		{"nvlinks_active": 2, "nvlinks_total": 2, "nvlink_errors_total": 11},
		{"nvlinks_active": 2, "nvlinks_total": 2, "nvlink_errors_total": 7},
		{"nvlinks_active": noPermission, "nvlinks_total": 2, "nvlink_errors_total": unsupported},
		{"nvlinks_active": 1, "nvlinks_total": 1, "nvlink_errors_total": notSeen},
	} {
		readings(t, g.Devices[i], want)
	}
}

// A rate is made of two counts, of counters that can be believed.
func TestFlows(t *testing.T) {
	at := time.Unix(1000, 0)
	const wrap = 1 << 32
	for _, x := range []struct {
		name          string
		before, after float64
		believed      float64
		elapsed       time.Duration
		want          probes.Opt[float64]
	}{
		{"a rate", 1000, 3000, 1, 2 * time.Second, probes.Some(1000.0)},
		{"idle", 1000, 1000, 1, time.Second, probes.Some(0.0)},
		{"never counted anything", 0, 0, 1, time.Second, probes.Opt[float64]{}},
		{"starts over", 3000, 1000, 1, time.Second, probes.Opt[float64]{}},
		{"may wrap at 4 GiB", wrap - 2000, wrap - 1000, wrap, time.Second, probes.Opt[float64]{}},
		{"beyond 4 GiB, so it does not wrap there", wrap + 1000, wrap + 2000, wrap, time.Second, probes.Some(1000.0)},
		{"no time passed", 1000, 3000, 1, 0, probes.Opt[float64]{}},
	} {
		var c counter
		if got := c.next(x.before, x.believed, at); got.Seen() {
			t.Errorf("%s: one count gives %+v", x.name, got)
		}
		if got := c.next(x.after, x.believed, at.Add(x.elapsed)); got != x.want {
			t.Errorf("%s: %+v, want %+v", x.name, got, x.want)
		}
		if got := c.next(x.after+1e12, x.believed, at.Add(x.elapsed+time.Millisecond)); got != x.want {
			t.Errorf("%s, a moment later: %+v, want %+v", x.name, got, x.want)
		}
	}
}

// Counters stand in for GPM metric by metric, and only where GPM does not have it.
func TestFlowsWhereGPMLacksThem(t *testing.T) {
	s := play(t, "driver", `
0 * count 3
0 * field.197 9000000000+500
0 * field.198 4000+500
0 0 gpm 0
0 1 gpm.20 10
0 1 gpm.21 nan
# 2: 32 bits of a counter that wraps
0 2 gpm 0
0 2 field.197 900000 u32
`)
	if s == nil {
		return
	}
	var g *probes.GPU
	for _, at := range []float64{0, 1, 2} {
		s.moveTo(at)
		g = s.fresh(0, 1, 2)
	}
	readings(t, g.Devices[0], map[string]any{"pcie_tx_bytes_per_second": 500, "pcie_rx_bytes_per_second": notSeen})
	readings(t, g.Devices[1], map[string]any{"pcie_tx_bytes_per_second": 10 << 20, "pcie_rx_bytes_per_second": notSeen})
	readings(t, g.Devices[2], map[string]any{"pcie_tx_bytes_per_second": unsupported, "nvlink_tx_bytes_per_second": unsupported})
}
