package simulated

import (
	"reflect"
	"time"
)

// mostSkew is by how much the engine's clock may be another than it was until it is set anew.
// Less is the time that an answer takes; readings that move with that would spoil rates.
const mostSkew = time.Second

// onClock puts all times on our clock, by which the sample's readings are told fresh from
// stale: an engine on another host has a clock of its own. What is read is read at the moment
// of asking, so that the newest time is now. Skew is by how much the engine's clock was ahead
// so far; what it is taken for from now on is returned.
func (s *Section) onClock(skew time.Duration, now time.Time) time.Duration {
	var newest time.Time
	for _, at := range s.ats() {
		if at.After(newest) {
			newest = *at
		}
	}
	if ahead := newest.Sub(now); !newest.IsZero() && (ahead-skew).Abs() > mostSkew {
		skew = ahead
	}
	if skew != 0 {
		shift(reflect.ValueOf(s).Elem(), -skew)
	}
	for _, at := range s.ats() {
		dated(at, now)
	}
	if s.GPU != nil {
		for i := range s.GPU.Devices {
			dated(&s.GPU.Devices[i].At, s.GPU.At)
		}
	}
	return skew
}

// dated makes a time one that can be: a section that does not say when it was read was read
// just now, and nothing was read later.
func dated(at *time.Time, now time.Time) {
	if at.IsZero() || at.After(now) {
		*at = now
	}
}

// ats are the times of the parts.
func (s *Section) ats() (list []*time.Time) {
	if s.GPU != nil {
		list = append(list, &s.GPU.At)
	}
	if s.Host != nil {
		list = append(list, &s.Host.At)
	}
	if s.Process != nil {
		list = append(list, &s.Process.At)
	}
	if s.Neighbours != nil {
		list = append(list, &s.Neighbours.At)
	}
	if s.Sockets != nil {
		list = append(list, &s.Sockets.At)
	}
	return list
}

// shift moves all times in v.
func shift(v reflect.Value, by time.Duration) {
	each(v, func(v reflect.Value) {
		if t, ok := v.Interface().(time.Time); ok && !t.IsZero() {
			v.Set(reflect.ValueOf(t.Add(by)))
		}
	})
}
