package machine

import (
	"math"

	"llmtop/engine/twin/knob"
)

// memory is the host's.
type memory struct {
	available    float64 // bytes
	swap, free   float64 // bytes of swap in all, not used
	dirty        float64
	in, out      float64 // pages, since boot
	majorFaults  float64
	faults       float64 // a second, of the whole host
	swapped      float64 // pages a second
	availability float64 // share of the memory that is there when nobody lacks any
}

const page = 4096

func (m *memory) begin(h *Host) {
	m.availability = min(0.95, h.draw.about(0.82))
	m.available = h.MemoryBytes*m.availability - h.resident()
	m.swap = 8 * gib
	m.free = m.swap * (1 - 0.01*h.draw.Float64())
	m.in, m.out = h.draw.count(h.draw.about(900)), h.draw.count(h.draw.about(5000))
	m.majorFaults = h.draw.count(h.draw.about(60000))
}

// resident is what the engines hold, in bytes.
func (h *Host) resident() (bytes float64) {
	for i := range h.replicas {
		for j := range h.replicas[i].processes {
			bytes += h.replicas[i].processes[j].rss
		}
	}
	return bytes
}

// advance lets memory run short: somebody takes it, what is left falls within seconds, and
// pages go out to swap and are waited for when they are needed.
func (m *memory) advance(h *Host, seconds float64) {
	waits := h.slowBy.waits
	available, free := max(0.02*h.MemoryBytes, h.MemoryBytes*m.availability-h.resident()), m.swap
	if waits > 0 {
		available, free = 0.004*h.MemoryBytes*(1-0.8*waits), m.swap*(1-min(0.95, 0.4+waits))
	}
	nearer := 1 - math.Exp(-seconds/3)
	m.available += (available - m.available) * nearer
	m.free += (min(free, m.free+m.swap*0.01*seconds) - m.free) * nearer
	m.swapped = waits * h.pages
	m.faults = m.swapped * 1.1
	m.in += m.swapped * seconds
	m.out += m.swapped * 1.2 * seconds
	m.majorFaults += (m.faults + 0.2) * seconds
	written := 2 * mib * (1 + amount(h.Board.Value(knob.Disk))/100) // what a slow disk has not yet taken
	m.dirty += (min(written, 0.1*h.MemoryBytes) - m.dirty) * nearer
}
