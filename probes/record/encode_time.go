package record

import (
	"time"
	"unsafe"
)

// Codes of an escaped time.
const (
	timeZero    = 0
	timeSeconds = 1 // Unix seconds, then ns: beyond what ns in 64 bits can hold
	timeNano    = 2 // 64 bits: Unix ns
)

// timeUnits are the modes of times: the unit is 10^mode ns.
var timeUnits = [...]uint8{0, 3, 6, 9}

// time writes a time against the clock or the sample's.
func (e *encoder) time(t *table, s *slot, c *column, seen *columnTally, v unsafe.Pointer, dense bool) {
	at := *s.time(v)
	switch {
	case at.IsZero():
		e.escape(dense)
		e.bits(timeZero, 8)
		return
	case !fitsNano(at):
		e.escape(dense)
		e.bits(timeSeconds, 8)
		e.wide(zigzag(at.Unix()) + 1)
		e.wide(uint64(at.Nanosecond()) + 1)
		return
	}
	ns, unit := at.UnixNano(), nanos(c.mode)
	seen.lookTime(ns)
	sum := int64(0)
	if s.sum != nil && (t.tally.noting || c.by == bySum) {
		sum = t.sumOf(s, v, 9-c.mode)
	}
	m, tick, clock := floorDiv(ns, unit), floorDiv(e.tick, unit), floorDiv(e.clock, unit)
	if t.tally.noting {
		seen.noteTime(m, tick, clock, sum, s.sum != nil)
	}
	if m*unit != ns {
		e.escape(dense)
		e.bits(timeNano, 8)
		e.word(uint64(ns))
	} else {
		base := clock
		if !e.key && c.by == byTick {
			base = tick
		} else if !e.key && c.by == bySum {
			base = tick - sum
		}
		e.distance(c, m, base, number{}, classTime, dense)
	}
	if e.key || c.by != bySum {
		e.clock = ns
	}
}

// lookTime notes which unit a time needs: one bit of exp for each unit that all so far have.
func (c *columnTally) lookTime(ns int64) {
	if c.held[0] == 0 {
		c.held[0], c.exp = 1, 0b1111
	}
	for i, mode := range timeUnits {
		if ns%nanos(mode) != 0 {
			c.exp &^= 1 << (3 - i)
		}
	}
}

// noteTime takes a time into account.
func (c *columnTally) noteTime(m, tick, clock, sum int64, hasSum bool) {
	c.moved++
	c.add(byBefore, zigzag(m-clock))
	c.add(byTrend, zigzag(m-clock-c.trend>>4))
	c.trend = follow(c.trend, m-clock)
	c.add(byTick, zigzag(m-tick-c.other>>4))
	c.other = follow(c.other, m-tick)
	if hasSum {
		d := m - tick + sum
		c.add(bySum, zigzag(d-c.rest>>4))
		c.rest = follow(c.rest, d)
	}
}

func nanos(mode uint8) int64 { return int64(pow10[min(mode, 9)]) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// fitsNano reports whether a distance between two such times fits 63 bits (1901 to 2200).
func fitsNano(t time.Time) bool { return t.Unix() > -1<<31 && t.Unix() < 7258118400 }
