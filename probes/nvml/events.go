//go:build linux && cgo

package nvml

import (
	"errors"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// eventWait is how long the driver is asked to wait for an error: shorter than Close
// waits for calls that are out.
const eventWait = 400 // ms

// events tells of critical errors by one event set with all devices in it. What was
// reported before a device was registered is not known.
type events struct {
	api     nvml.Interface
	guard   guard
	set     nvml.EventSet // nil: there is none
	handles []nvml.Device // those in the set; nil: it is not
	spoilt  bool          // those registered until now are no longer in it
}

func newEvents(api nvml.Interface, g guard, devices int) *events {
	return &events{api: api, guard: g, handles: make([]nvml.Device, devices)}
}

var errNoEvents = errors.New("the driver tells of no more events")

func (e *events) register(device int) ear {
	ret := e.create()
	if ret == nvml.SUCCESS {
		ret = e.include(device)
	}
	if ret == nvml.ERROR_UNKNOWN { // the set is in no known state any more (nvml.h)
		e.release()
		e.spoilt = true
	}
	return ear{hears: ret == nvml.SUCCESS, why: absence(ret)}
}

// create makes the set, unless there is one or it could not be used.
func (e *events) create() nvml.Return {
	if e.set != nil {
		return nvml.SUCCESS
	}
	if !e.guard.has["nvmlEventSetWait"] || !e.guard.has["nvmlEventSetFree"] {
		return nvml.ERROR_FUNCTION_NOT_FOUND
	}
	var set nvml.EventSet
	ret := e.guard.call("nvmlEventSetCreate", func() (ret nvml.Return) { set, ret = e.api.EventSetCreate(); return })
	if ret == nvml.SUCCESS {
		e.set = set
	}
	return ret
}

// include puts a device into the set.
func (e *events) include(device int) nvml.Return {
	g := e.guard.of(device)
	var h nvml.Device
	ret := g.call("nvmlDeviceGetHandleByIndex", func() (ret nvml.Return) { h, ret = e.api.DeviceGetHandleByIndex(device); return })
	if ret != nvml.SUCCESS {
		return ret
	}
	ret = g.call("nvmlDeviceRegisterEvents", func() nvml.Return { return h.RegisterEvents(nvml.EventTypeXidCriticalError, e.set) })
	if ret == nvml.SUCCESS {
		e.handles[device] = h
	}
	return ret
}

func (e *events) wait() (device int, number uint64, ok bool, err error) {
	if e.set == nil || e.spoilt {
		e.release()
		return 0, 0, false, errNoEvents
	}
	var data nvml.EventData
	switch ret := e.guard.call("nvmlEventSetWait", func() (ret nvml.Return) { data, ret = e.set.Wait(eventWait); return }); ret {
	case nvml.SUCCESS:
	case nvml.ERROR_TIMEOUT:
		return 0, 0, false, nil
	default:
		e.release()
		return 0, 0, false, errors.New(inWords(ret))
	}
	for i, h := range e.handles {
		if h != nil && h == data.Device {
			return i, data.EventData, data.EventType == nvml.EventTypeXidCriticalError, nil
		}
	}
	return 0, 0, false, nil
}

func (e *events) release() {
	if e.set != nil {
		e.guard.call("nvmlEventSetFree", e.set.Free)
	}
	e.set, e.spoilt = nil, false
	clear(e.handles)
}
