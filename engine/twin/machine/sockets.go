package machine

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"time"

	"llmtop/probes"
)

// longQueue is the send queue of a connection from which probes/host takes it that its client
// is behind.
const longQueue = 32 << 10

// maxFull bounds the connections that are told.
const maxFull = 8

// socketSection are the connections to all replicas.
func (h *Host) socketSection(at time.Time) *probes.Sockets {
	s := &probes.Sockets{At: probes.Stamp(at)}
	open, send, unread, waiting := 0.0, 0.0, 0.0, 0.0
	s.Full = make([]probes.Connection, 0, 2*maxFull*len(h.replicas))
	for i := range h.replicas {
		r := &h.replicas[i]
		if !r.load.Up {
			continue
		}
		open += float64(r.load.Connections)
		queued := max(r.load.SendQueue, r.unsent) + h.onTheWay(r)
		send += queued
		unread += r.unread
		waiting += r.unaccepted
		s.Full = h.connections(s.Full, r, at)
	}
	slices.SortStableFunc(s.Full, func(a, b probes.Connection) int { return cmp.Compare(b.SendQueueBytes, a.SendQueueBytes) })
	s.Full = s.Full[:min(len(s.Full), maxFull)]
	s.Connections, s.SendQueueBytes, s.RecvQueueBytes = probes.Some(open), whole(send), whole(unread)
	s.Waiting, s.WaitingLimit = probes.Some(waiting), probes.Some(float64(h.network.backlog*h.Replicas))
	return s
}

// onTheWay is what clients have not acknowledged yet because they are far away.
func (h *Host) onTheWay(r *replica) float64 { return r.rate * h.trip }

// connections adds those of a replica that have something in their send queues: its slow
// clients, and the others as far as it is on the way to them or the network is full.
func (h *Host) connections(full []probes.Connection, r *replica, at time.Time) []probes.Connection {
	parts := 0.0
	for i := range r.slow {
		parts += r.slow[i].part
	}
	told := max(0, r.load.SendQueue-r.unsent) * float64(len(r.slow)) / float64(max(1, r.load.Slow))
	for i := range r.slow {
		c := &r.slow[i]
		full = h.connection(full, r, c.peer, told*c.part/parts, max(0, at.Sub(c.since).Seconds()))
	}
	if r.unsent == 0 {
		r.full = at
	}
	others := r.load.Connections - r.load.Slow
	for i := range min(others, len(r.clients)) {
		queue, stuck := (r.unsent+h.onTheWay(r))/float64(others)*(1.3-0.1*float64(i)), 0.0
		if queue >= longQueue {
			stuck = at.Sub(r.full).Seconds()
		}
		full = h.connection(full, r, r.clients[i], queue, stuck)
	}
	return full
}

func (h *Host) connection(full []probes.Connection, r *replica, peer string, queue, stuck float64) []probes.Connection {
	if queue < 1 {
		return full
	}
	again := 0.0
	if h.noise.Float64() < min(0.5, 5*h.network.loss) {
		again = 1
	}
	return append(full, probes.Connection{Endpoint: r.endpoint, Peer: peer, SendQueueBytes: math.Floor(queue), Retransmits: probes.Some(again), StuckSeconds: probes.Some(stuck)})
}

// peer is the address of a client.
func (h *Host) peer() string {
	addr := netip.AddrFrom4([4]byte{10, byte(h.draw.IntN(256)), byte(h.draw.IntN(256)), byte(1 + h.draw.IntN(254))})
	return netip.AddrPortFrom(addr, uint16(32768+h.draw.IntN(28000))).String()
}
