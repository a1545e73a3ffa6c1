package twin

import "time"

// pauses are times in which a process stands still: a collector stops it every now and
// then. They are computed from their number, so that steps and requests, which ask of
// different times, meet the same ones and nothing is kept.
type pauses struct {
	share  float64 // of time; 0: there are none
	length time.Duration
	anchor time.Duration // they count from here
	period time.Duration
	seed   uint64
}

// pauseLength is that of one stop of a large heap: public cases of stalls by a
// collector tell 0.1–0.4 s every 1–3 s.
const pauseLength = 150 * time.Millisecond

// set changes the share of time that the pauses take, from now on.
func (p *pauses) set(share float64, now time.Duration) {
	if p.share == share {
		return
	}
	p.share, p.anchor, p.length, p.period = share, now, pauseLength, 0
	if share > 0 {
		p.period = time.Duration(float64(pauseLength) / share)
	}
}

// start is when pause n begins: once a period, somewhere in the first half of what is free.
func (p *pauses) start(n int64) time.Duration {
	jitter := unit(mix(p.seed+uint64(n))) * float64(p.period-p.length) / 2
	return p.anchor + time.Duration(n)*p.period + time.Duration(jitter)
}

// extend is when work that begins at a time and takes so long is over. Nil has no pauses.
func (p *pauses) extend(from, work time.Duration) time.Duration {
	if p == nil || p.share == 0 {
		return from + work
	}
	at := from
	for n := max(0, int64((from-p.anchor)/p.period)); ; n++ {
		start := p.start(n)
		if start >= at+work {
			return at + work
		}
		if over := start + p.length; over > at {
			work -= max(0, start-at)
			at = over
		}
	}
}

// stopped is how much of a stretch of time lies in pauses.
func (p *pauses) stopped(from, to time.Duration) (sum time.Duration) {
	if p.share == 0 || to <= p.anchor {
		return 0
	}
	for n := max(0, int64((from-p.anchor)/p.period)); ; n++ {
		start := p.start(n)
		if start >= to {
			return sum
		}
		sum += max(0, min(start+p.length, to)-max(start, from))
	}
}
