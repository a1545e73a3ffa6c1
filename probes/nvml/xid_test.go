//go:build linux && cgo

package nvml

import (
	"testing"

	"llmtop/probes"
)

// TestXid: errors are counted from the first read on, each once, also of a device that is lost.
func TestXid(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
0 0 xid 13
5 0 xid 31
5 0 xid 43
8 1 xid 999
12 0 xid 79
12 0 error.* 15
`)
	if s == nil {
		return
	}
	is := func(d probes.GPUDevice, total uint64, last probes.Opt[uint64]) {
		t.Helper()
		if d.XidTotal != probes.Some(total) || d.LastXid != last {
			t.Errorf("GPU %d: %v, last %v; want %d, last %v", d.Index, d.XidTotal, d.LastXid, total, last)
		}
	}
	g := s.fresh(0, 1)
	is(g.Devices[0], 0, probes.Opt[uint64]{})
	s.moveTo(6)
	g = s.fresh(0, 1)
	is(g.Devices[0], 2, probes.Some[uint64](43))
	is(g.Devices[1], 0, probes.Opt[uint64]{})
	s.moveTo(9)
	g = s.fresh(0, 1)
	is(g.Devices[0], 2, probes.Some[uint64](43))
	is(g.Devices[1], 1, probes.Opt[uint64]{})
	s.moveTo(13)
	g = s.readUntil(func(g *probes.GPU) bool { return g.Devices[0].Err != "" })
	is(g.Devices[0], 3, probes.Some[uint64](79))
	if g.Devices[0].KernelActiveRatio.Why() != probes.Lost {
		t.Errorf("the device is lost: %+v", g.Devices[0])
	}
}
