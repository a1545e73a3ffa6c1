//go:build linux && cgo

package nvml

import (
	"testing"

	"llmtop/probes"
)

// TestXid: errors are counted from the first reading on, each once, also of a device that
// is lost; one that the driver has no events of says so.
func TestXid(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
0 * count 3
0 0 xid 13
0 2 error.RegisterEvents 3
5 0 xid 31
5 0 xid 43
8 1 xid 999
8 2 xid 13
12 0 xid 79
12 0 error.* 15
`)
	if s == nil {
		return
	}
	untilXids := func(gpu int, total uint64, last probes.Opt[uint64]) *probes.GPU {
		t.Helper()
		return s.readUntil(func(g *probes.GPU) bool {
			return len(g.Devices) > gpu && g.Devices[gpu].XidTotal == probes.Some(total) && g.Devices[gpu].LastXid == last
		})
	}
	untilXids(0, 0, probes.Opt[uint64]{})
	untilXids(1, 0, probes.Opt[uint64]{})
	s.readUntil(func(g *probes.GPU) bool { return g.Devices[2].XidTotal == probes.None[uint64](probes.Unsupported) })
	s.moveTo(6)
	untilXids(0, 2, probes.Some[uint64](43))
	s.moveTo(9)
	g := untilXids(1, 1, probes.Opt[uint64]{})
	if d := g.Devices[0]; d.XidTotal != probes.Some[uint64](2) || g.Devices[2].XidTotal.Seen() {
		t.Errorf("the others: %v, %v", d.XidTotal, g.Devices[2].XidTotal)
	}
	s.moveTo(13)
	untilXids(0, 3, probes.Some[uint64](79))
	g = s.readUntil(func(g *probes.GPU) bool { return g.Devices[0].Err != "" })
	if d := g.Devices[0]; d.KernelActiveRatio.Why() != probes.Lost || d.XidTotal != probes.Some[uint64](3) {
		t.Errorf("the device is lost: %+v", d)
	}
}

// When the driver stops telling, the devices that are well are asked again.
func TestXidAfterTheSetBroke(t *testing.T) {
	s := play(t, "driver", twoGPUs+`
2 * error.EventSetWait 15
3 * error.EventSetWait 0
9 1 xid 31
`)
	if s == nil {
		return
	}
	s.readUntil(func(g *probes.GPU) bool { return g.Devices[1].XidTotal.Seen() })
	broken := func() bool {
		for _, c := range s.probe.Calls() {
			if c.Symbol == "nvmlEventSetWait" && c.Failed > 0 {
				return true
			}
		}
		return false
	}
	s.moveTo(2)
	s.readUntil(func(*probes.GPU) bool { return broken() })
	s.moveTo(3)
	s.readUntil(func(*probes.GPU) bool { return s.probe.current()[1].listening() })
	s.moveTo(9)
	s.readUntil(func(g *probes.GPU) bool { return g.Devices[1].XidTotal == probes.Some[uint64](1) })
}
