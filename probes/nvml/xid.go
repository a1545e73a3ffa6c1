package nvml

import (
	"sync"
	"time"

	"llmtop/probes"
)

// Critical errors (Xid) are told by the driver as events and by the kernel's log, usually
// both. Each counts once: what one source tells within sameXid of another one telling of
// the same error of the same device is that error.

// sameXid is how far apart two sources tell of one error.
const sameXid = 5 * time.Second

// mostXids bounds the errors of a device that another source may still tell of;
// mostXidDevices the devices.
const (
	mostXids       = 1024
	mostXidDevices = maxDevices
)

// Numbers of errors. The driver gives unknownXid when it does not know which one it was.
const (
	unknownXid = 999
	offTheBus  = 79
)

// xidSource is who told of an error, as a bit.
type xidSource uint8

const (
	toldByDriver xidSource = 1 << iota
	toldByKernel
	toldByKernelInWords // without a number, and as often as it likes
)

// xidLog counts the errors of all devices, by pciKey or what stands for one. It lasts as
// long as the probe, over new starts of NVML.
type xidLog struct {
	begin sync.Once // the reading of the kernel's log

	mu      sync.Mutex
	devices map[string]*xidCount
	kernel  bool   // the kernel's log is read
	note    string // why it is not
}

type xidCount struct {
	total  uint64
	last   probes.Opt[uint64]
	lastAt time.Time
	recent []xidTold // oldest first
}

// xidTold is an error that was counted.
type xidTold struct {
	number uint64
	at     time.Time
	by     xidSource // all who have told of it
}

// add takes in what a source tells of a device.
func (l *xidLog) add(device string, by xidSource, number uint64, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.devices == nil {
		l.devices = map[string]*xidCount{}
	}
	c := l.devices[device]
	if c == nil {
		if len(l.devices) >= mostXidDevices {
			return
		}
		c = &xidCount{}
		l.devices[device] = c
	}
	c.add(xidTold{number, at, by})
}

func (c *xidCount) add(x xidTold) {
	for len(c.recent) > 0 && x.at.Sub(c.recent[0].at) > sameXid {
		c.recent = c.recent[1:]
	}
	if known := c.same(x); known != nil {
		known.by |= x.by
		if known.number == unknownXid {
			known.number = x.number
			c.name(x)
		}
		return
	}
	if len(c.recent) >= mostXids {
		c.recent = c.recent[1:]
	}
	c.recent = append(c.recent, x)
	c.total++
	c.name(x)
}

// name makes an error the last one. What only follows from another one (45, the clean-up
// after it; 154, that the driver now asks for another action) does not hide that one.
func (c *xidCount) name(x xidTold) {
	follows := x.number == 45 || x.number == 154
	if follows && c.last.Seen() && x.at.Sub(c.lastAt) <= sameXid {
		return
	}
	c.last, c.lastAt = numbered(x.number), x.at
}

// same finds the error that x tells of once more: one of that number, else one of which
// either source does not know the number.
func (c *xidCount) same(x xidTold) *xidTold {
	for _, equal := range []func(a, b uint64) bool{
		func(a, b uint64) bool { return a == b },
		func(a, b uint64) bool { return a == unknownXid || b == unknownXid },
	} {
		for i := range c.recent {
			r := &c.recent[i]
			news := r.by&x.by == 0 || x.by == toldByKernelInWords
			if news && equal(r.number, x.number) {
				return r
			}
		}
	}
	return nil
}

func numbered(number uint64) probes.Opt[uint64] {
	if number == unknownXid {
		return probes.None[uint64](probes.NotSeen)
	}
	return probes.Some(number)
}

// of returns how many errors a device had since somebody listens, and the number of the
// last. Nobody listens when neither the driver nor the kernel tells; then e says why.
func (l *xidLog) of(device string, e ear) (total, last probes.Opt[uint64]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch c := l.devices[device]; {
	case c != nil:
		return probes.Some(c.total), c.last
	case l.kernel || e.hears:
		return probes.Some[uint64](0), probes.Opt[uint64]{}
	}
	none := probes.None[uint64](e.why)
	return none, none
}

// ear is whether the driver tells of the errors of a device.
type ear struct {
	asked bool // it was asked to
	hears bool
	why   probes.Absence // of hearing nothing
}
