package machine

import (
	"math"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/probes"
)

// network is the interface to the clients, and what TCP counts.
type network struct {
	name     string
	speed    float64 // bytes a second
	rx, tx   float64
	segments float64
	again    float64
	ports    float64 // speed of those of InfiniBand
	in, out  float64 // over all of these
	limited  bool
	loss     float64 // share of segments sent again
	backlog  int
}

// client is one that reads slowly.
type client struct {
	peer  string
	since time.Time
	part  float64 // of what waits for slow ones
}

// speeds are those of interfaces that such hosts have, bytes a second.
var speeds = [...]float64{3.125e9, 12.5e9, 25e9}

func (n *network) begin(h *Host) {
	n.name, n.speed = "eth0", speeds[h.draw.IntN(len(speeds))]
	n.ports = 50e9
	n.backlog = 2048
	n.rx, n.tx = h.uptime*h.draw.about(90*kib), h.uptime*h.draw.about(160*kib)
	n.segments = n.tx/segment + h.uptime*20
	n.again = math.Floor(n.segments * h.lost)
}

// segment is what a TCP segment carries.
const segment = 1448

// event is what one of a stream of tokens takes: each is sent by itself.
const event = 320

// header is what the network adds to it.
const header = 78

// mostUnsent bounds what waits in the send queue of a connection: the kernel's limit.
const mostUnsent = 4 * mib

// advance sends what the replicas have to send, as far as there is room for it.
func (n *network) advance(h *Host, seconds float64) {
	speed := n.speed
	limit := h.Board.Value(knob.Network)
	if n.limited = limit > 0; n.limited {
		speed = min(speed, limit*1e6)
	}
	n.loss = h.lost + amount(h.Board.Value(knob.Retransmits))
	room := speed * seconds / (1 + float64(header)/event) * (1 - n.loss)
	asked := 0.0
	for i := range h.replicas {
		asked += h.replicas[i].unsent + h.replicas[i].load.BytesOut
	}
	part := 1.0
	if asked > room {
		part = room / asked
	}
	in := 0.0
	for i := range h.replicas {
		r := &h.replicas[i]
		r.unsent = min((1-part)*(r.unsent+r.load.BytesOut), float64(r.load.Connections)*mostUnsent)
		r.rate = r.load.BytesOut / seconds
		in += r.load.BytesIn
		n.in += r.load.TransferIn
		n.out += r.load.TransferOut
		h.listen(r, seconds)
		h.slowClients(r)
	}
	out := asked * part
	segments := out/event + in/(2*segment) + 15*seconds // and acknowledgements
	again := segments * n.loss
	n.segments += segments
	n.again += again
	n.tx += min((out+again*event)*(1+float64(header)/event)+12*kib*seconds, speed*seconds)
	n.rx += min(in*(1+float64(header)/segment)+segments*40+8*kib*seconds, speed*seconds)
}

// listen says what waits for the event loop: requests that it has not read, connections that
// it has not accepted. It is late by what it owes and by how long it is blocked.
func (h *Host) listen(r *replica, seconds float64) {
	r.unread, r.unaccepted = 0, 0
	if !r.load.Up {
		return
	}
	l := &r.lanes[0]
	late := min(1, l.owed/float64(l.count)/seconds+min(1, r.load.Blocked.Seconds()/seconds)*0.5)
	r.unread = r.load.BytesIn * late
	r.unaccepted = math.Floor(min(float64(h.network.backlog), float64(r.load.Requests)*late*0.5))
}

// slowClients keeps the clients that read slowly: as many as the load says, the ones that
// came last leave first.
func (h *Host) slowClients(r *replica) {
	n := min(r.load.Slow, maxThreads)
	for len(r.slow) < n {
		r.slow = append(r.slow, client{h.peer(), h.Start.Add(h.at), 0.5 + h.draw.Float64()})
	}
	r.slow = r.slow[:n]
}

// nics are the interfaces as they are told.
func (n *network) nics(h *Host) []probes.NIC {
	none := probes.Some(0.0)
	list := make([]probes.NIC, 0, 1+h.Ports)
	speed := n.speed
	if n.limited { // a link that came up slower says so
		speed = min(speed, h.Board.Value(knob.Network)*1e6)
	}
	list = append(list, probes.NIC{Name: n.name, Kind: "ethernet", RxBytesTotal: whole(n.rx), TxBytesTotal: whole(n.tx), RxDropsTotal: none, TxDropsTotal: none,
		ErrorsTotal: none, SpeedBytesPerS: probes.Some(speed), Up: true})
	for i := range h.Ports {
		list = append(list, probes.NIC{Name: portNames[i], Kind: "infiniband", RxBytesTotal: whole(n.in / float64(h.Ports)), TxBytesTotal: whole(n.out / float64(h.Ports)), RxDropsTotal: probes.None[float64](probes.NotExposed), TxDropsTotal: none,
			ErrorsTotal: none, SpeedBytesPerS: probes.Some(n.ports), Up: true})
	}
	return list
}

// portNames are those of InfiniBand, as probes/host calls them.
var portNames = [...]string{"mlx5_0:1", "mlx5_1:1", "mlx5_2:1", "mlx5_3:1", "mlx5_4:1", "mlx5_5:1", "mlx5_6:1", "mlx5_7:1"}

const maxPorts = len(portNames)

// whole is a counter as the kernel has it: a whole number.
func whole(v float64) probes.Opt[float64] { return probes.Some(math.Floor(v)) }
