package probes

import (
	"fmt"
	"time"
)

// Event kinds about what lasts: each has a beginning and an end.
const (
	EventProbeError  = "probe-error"  // a probe began to fail, or reads again
	EventGPULost     = "gpu-lost"     // a device is gone, or back
	EventGPUError    = "gpu-error"    // a device is there and cannot be read, or reads again
	EventGPUThrottle = "gpu-throttle" // a reason for which a device's clocks are held down began, or ended
	EventGPUXid      = "gpu-xid"      // the driver reported a critical error of a device
)

// endsAfter is how long something must be away before that is an event: what flickers,
// as a power cap does under load, is one thing and not many.
const endsAfter = 10 * time.Second

// condition is something that holds for a while.
type condition struct {
	since, seen time.Duration // when it began and was last seen, since the collection began
}

// conditions turns what is so in each sample into events when it begins and ends. Its
// keys are as many as there are probes and devices.
type conditions struct {
	on   map[string]condition
	xids map[string]uint64 // critical errors a device had, by identity
}

func (c *conditions) events(s *Sample) (events []Event) {
	if c.on == nil {
		c.on, c.xids = map[string]condition{}, map[string]uint64{}
	}
	note := func(kind, key, subject, what string, holds bool) {
		if text := c.change(kind+key, s.Mono, subject, what, holds); text != "" {
			events = append(events, Event{At: s.At, Kind: kind, Text: text})
		}
	}
	for i := range s.Probes {
		p := &s.Probes[i]
		note(EventProbeError, p.Name, "probe "+p.Name, p.Err, p.Err != "" && !p.Lacks)
	}
	if s.GPU == nil {
		return events
	}
	for i := range s.GPU.Devices {
		d := &s.GPU.Devices[i]
		subject, key := fmt.Sprintf("GPU %d", d.Index), fmt.Sprint(d.Index)
		lost := d.Err != "" && d.KernelActiveRatio.Why() == Lost
		note(EventGPULost, key, subject, d.Err, lost)
		note(EventGPUError, key, subject, d.Err, d.Err != "" && !lost)
		bits, known := d.ThrottleBits.Get()
		for _, r := range throttleReasons {
			if known {
				note(EventGPUThrottle, key+r.name, subject, r.name, bits&r.bit != 0)
			}
		}
		if text := c.xid(d); text != "" {
			events = append(events, Event{At: s.At, Kind: EventGPUXid, Text: subject + ": " + text})
		}
	}
	return events
}

// throttleReasons are those that are no choice of an operator and no idleness.
var throttleReasons = [...]struct {
	bit  uint64
	name string
}{
	{ThrottlePowerCap, "power cap"}, {ThrottleSWThermal, "software thermal slowdown"},
	{ThrottleHWThermal, "hardware thermal slowdown"}, {ThrottlePowerBrake, "power brake"}, {ThrottleHWSlowdown, "hardware slowdown"},
}

// change takes note of whether something holds, and says so when that is news.
func (c *conditions) change(key string, now time.Duration, subject, what string, holds bool) string {
	was, on := c.on[key]
	switch {
	case holds && !on:
		c.on[key] = condition{since: now, seen: now}
		return subject + ": " + what
	case holds:
		was.seen = now
		c.on[key] = was
	case on && now-was.seen >= endsAfter:
		delete(c.on, key)
		text := subject + ": over"
		if what != "" {
			text = subject + ": no more " + what
		}
		return fmt.Sprintf("%s, after %.0f s", text, (was.seen - was.since).Seconds())
	}
	return ""
}

// xid says which critical errors the driver reported since the last sample.
func (c *conditions) xid(d *GPUDevice) string {
	total, ok := d.XidTotal.Get()
	if !ok {
		return ""
	}
	key := d.UUID + fmt.Sprint(d.Index)
	before := c.xids[key]
	if c.xids[key] = total; total <= before {
		return ""
	}
	code := "of an unknown kind"
	if x, ok := d.LastXid.Get(); ok {
		code = fmt.Sprint(x)
	}
	if more := total - before - 1; more > 0 {
		code += fmt.Sprintf(" and %d before it", more)
	}
	return "Xid " + code
}
