package machine

import (
	"math"

	"llmtop/engine/twin/knob"
)

// disk is the one with the system, the logs and the weights. Its counters are since boot.
type disk struct {
	reads, writes, readBytes, writeBytes, busy, wait float64

	queue    float64 // requests out, mean
	latency  float64 // seconds of a write
	asked    float64 // bytes a second of weights that engines ask for,
	loads    float64 // and that are read
	total    float64
	freeRoot float64
}

func (d *disk) begin(h *Host) {
	up := h.uptime
	d.writes, d.reads = h.writes*up, 3*up
	d.writeBytes, d.readBytes = d.writes*24*kib, d.reads*60*kib+h.WeightBytes
	d.wait = d.writes*h.write + d.reads*h.read
	d.busy = 0.9 * d.wait
	d.total = 3.5e12
	d.freeRoot = d.total * min(0.9, h.draw.about(0.5))
	d.latency = h.write
}

// slowWrite is what a write may take before those who only hand it to the kernel feel it.
const slowWrite = 0.005

// weightPiece is in what pieces weights are read.
const weightPiece = 256 * kib

// mostOut is how many writes are out at once: beyond them whoever writes has to wait.
const mostOut = 64

// advance lets the disk do what is asked of it. How many requests are out is how many come
// times how long each takes.
func (d *disk) advance(h *Host, seconds float64) {
	slow := amount(h.Board.Value(knob.Disk)) / 1000
	d.latency = max(h.write, slow)
	lines, asked := 0.0, 0.0
	for i := range h.replicas {
		load := &h.replicas[i].load
		lines += float64(load.Requests) + float64(load.Steps)/10
		asked += load.Read / seconds
	}
	writes := h.writes + h.memory.swapped*1.2/32
	writes = min(writes, mostOut/d.latency)
	bytes := min(h.writes, writes)*24*kib + lines*h.lines/seconds + h.memory.swapped*1.2*page
	reads, readBytes := 3+h.memory.swapped/4, 3*60*kib+h.memory.swapped*page
	d.loads = min(asked, h.weights) // the rest is in memory still
	d.asked = asked
	reads, readBytes = reads+d.loads/weightPiece, readBytes+d.loads
	d.queue = writes*d.latency + reads*h.read
	d.writes += writes * seconds
	d.reads += reads * seconds
	d.writeBytes += bytes * seconds
	d.readBytes += readBytes * seconds
	d.wait += d.queue * seconds
	d.busy += (1 - math.Exp(-d.queue)) * seconds
	idle := max(0, float64(h.Cores)-h.cores.sum())
	h.seconds.diskWait += min(idle, 0.3*d.queue+d.sleeps(h)) * seconds
}

// blames is the share of the time in which a replica's event loop is blocked that is the
// disk's: a log that goes to a pipe is waited for as well.
func (d *disk) blames(h *Host, r *replica) float64 {
	if d.latency <= slowWrite {
		return 0
	}
	return d.latency / (d.latency + amount(h.Board.At(knob.LogLine, r.number))/1000)
}

// sleeps are the threads of engines that wait for the disk, mean.
func (d *disk) sleeps(h *Host) (threads float64) {
	for i := range h.replicas {
		if r := &h.replicas[i]; r.up {
			threads += r.lanes[r.logger].sleeps
		}
	}
	return threads
}
