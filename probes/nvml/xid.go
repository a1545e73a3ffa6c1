//go:build linux && cgo

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// xids listens for the critical errors (Xid) that the driver reports of one device. The
// driver keeps them in an event set, which is emptied at each read without waiting; what
// was reported before the first read is not known.
type xids struct {
	set   nvml.EventSet // nil: not listening
	began bool          // listening was tried
	why   nvml.Return   // why it is not listening
	total uint64
	last  probes.Opt[uint64]
}

// mostXids bounds the events that are taken in one read.
const mostXids = 32

// unknownXid is what the driver gives when it does not know which error it was.
const unknownXid = 999

// read returns how many there were since it began to listen, and the number of the last.
// It asks also when the device is lost: that is when there is one.
func (x *xids) read(d *nvmlDevice) (total, last probes.Opt[uint64]) {
	if !x.began && d.handle != nil {
		x.began = true
		x.why = x.listen(d)
	}
	if x.set == nil {
		none := probes.None[uint64](absence(x.why))
		return none, none
	}
	for range mostXids {
		var e nvml.EventData
		ret := d.guard.call("nvmlEventSetWait", func() (ret nvml.Return) { e, ret = x.set.Wait(0); return })
		if ret != nvml.SUCCESS {
			break // ERROR_TIMEOUT: there is none; with another error there will be none
		}
		if e.EventType == nvml.EventTypeXidCriticalError {
			x.note(e.EventData)
		}
	}
	return probes.Some(x.total), x.last
}

func (x *xids) note(number uint64) {
	x.total++
	if x.last = probes.Some(number); number == unknownXid {
		x.last = probes.None[uint64](probes.NotSeen)
	}
}

// listen makes an event set and puts the device into it.
func (x *xids) listen(d *nvmlDevice) nvml.Return {
	if !d.guard["nvmlEventSetWait"] || !d.guard["nvmlEventSetFree"] {
		return nvml.ERROR_FUNCTION_NOT_FOUND
	}
	var set nvml.EventSet
	ret := d.guard.call("nvmlEventSetCreate", func() (ret nvml.Return) { set, ret = d.api.EventSetCreate(); return })
	if ret != nvml.SUCCESS {
		return ret
	}
	ret = d.guard.call("nvmlDeviceRegisterEvents", func() nvml.Return { return d.handle.RegisterEvents(nvml.EventTypeXidCriticalError, set) })
	if x.set = set; ret != nvml.SUCCESS {
		x.release(d.guard)
	}
	return ret
}

func (x *xids) release(g guard) {
	if x.set != nil {
		g.call("nvmlEventSetFree", x.set.Free)
		x.set = nil
	}
}
