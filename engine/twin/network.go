package twin

import (
	"math"
	"math/rand/v2"
	"time"
)

// network is what lies between the clients and the host.
type network struct {
	rate     float64       // bytes a second each way; 0: enough
	resent   float64       // share of segments
	quantum  time.Duration // after which what has come for clients is passed on; 0: at once
	nagle    time.Duration // for which bodies are held back on connections that are used again
	up, down server
	rng      *rand.Rand
}

// What losses cost: a segment that is lost at the end of a body is sent again after
// resendAfter (Linux waits 200 ms at least), and of a long one the rate falls as the
// square root of the loss (Mathis et al. 1997) over a way of roundTrip.
const (
	segmentSize = 1460 // bytes
	resendAfter = 200 * time.Millisecond
	roundTrip   = 0.02 // seconds
)

// upload is when a body that begins to come now is here.
func (s *Simulation) upload(bytes int) (over time.Duration) {
	n := &s.network
	over = s.now
	if n.rate > 0 {
		over = n.up.serve(s.now, seconds(float64(bytes)/n.rate), nil)
	}
	if n.resent > 0 {
		over += seconds(float64(bytes) * roundTrip * math.Sqrt(n.resent) / (1.22 * segmentSize))
		if n.lost(bytes) {
			over += resendAfter
		}
	}
	return over
}

// lost draws whether one of the last segments of a body is lost: those before are found
// missing by what comes after them.
func (n *network) lost(bytes int) bool {
	last := min(3, 1+bytes/segmentSize)
	return n.rng.Float64() < 1-math.Pow(1-n.resent, float64(last))
}

// download sends bytes to the clients. They are late by as long as the way is taken; the
// engine itself is blocked only once the buffers of all connections are full.
func (s *Simulation) download(bytes float64) (blocked, late time.Duration) {
	n := &s.network
	if n.rate > 0 {
		late = n.down.serve(s.now, seconds(bytes/n.rate), nil) - s.now
		blocked = max(0, late-seconds(s.front.Buffer*float64(s.open)/n.rate))
	}
	if n.resent > 0 && n.lost(int(bytes)) {
		late += resendAfter
	}
	return blocked, late
}

// passed is when a client has what is sent to it at a time.
func (n *network) passed(at time.Duration) time.Duration {
	if n.quantum > 0 {
		at = (at + n.quantum - 1) / n.quantum * n.quantum
	}
	return at
}

// chunks is in how many pieces a client gets so many tokens when the last comes so long after
// the first.
func (n *network) chunks(span time.Duration, tokens int) int {
	if n.quantum > 0 {
		return min(tokens, 1+int(span/n.quantum))
	}
	return tokens
}

// unsent is the bytes that are on their way out.
func (s *Simulation) unsent() float64 {
	return s.network.down.backlog(s.now).Seconds() * s.network.rate
}
