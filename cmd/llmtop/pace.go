package main

import "time"

// Speeds of a replay, and the longest pause between two of its samples: a gap in a
// recording is shown, not waited for.
const (
	slowest   = 0.25
	fastest   = 64
	longestAt = 3 * time.Second
)

// mostAtOnce is how many samples a replay that fell behind goes on at once; the screen
// need not show each of them, but the diagnosis takes them all in.
const mostAtOnce = 64

// reportEvery is how often a replay that cannot keep its speed says so.
const reportEvery = 2 * time.Second

// pace is the clock of a replay: when its next sample is due. It keeps the speed on
// average, however long it takes to draw or to compute.
type pace struct {
	speed  float64
	due    time.Time     // when the sample shown was; zero: begins with the next
	since  time.Time     // of what follows
	played time.Duration // of the recording since then, as shown
	behind bool          // gave time up since then
}

// begin makes now the moment from which the sample shown counts.
func (p *pace) begin() { p.due, p.since = time.Time{}, time.Time{} }

// until is how long the next sample, after a stretch of the recording, is still to wait for.
func (p *pace) until(now time.Time, stretch time.Duration) time.Duration {
	if p.due.IsZero() {
		p.due, p.since, p.played, p.behind = now, now, 0, false
	}
	return max(0, p.due.Add(p.wait(stretch)).Sub(now))
}

func (p *pace) wait(stretch time.Duration) time.Duration {
	return time.Duration(float64(stretch) / p.speed)
}

// take counts a sample as shown.
func (p *pace) take(stretch time.Duration) {
	p.due = p.due.Add(p.wait(stretch))
	p.played += stretch
}

// giveUp stops to catch up with what is still due, and reports how fast it went when it
// is time to say so.
func (p *pace) giveUp(now time.Time, stretch time.Duration) (speed float64, say bool) {
	if late := now.Sub(p.due.Add(p.wait(stretch))); late > 0 {
		p.due, p.behind = now, true
	}
	if now.Sub(p.since) < reportEvery {
		return 0, false
	}
	speed = p.played.Seconds() / now.Sub(p.since).Seconds()
	say = p.behind && speed < 0.95*p.speed
	p.since, p.played, p.behind = now, 0, false
	return speed, say
}

// stretchAfter is how much of the recording passes from tick i to the next.
func (v *viewer) stretchAfter(i int) time.Duration {
	gap := time.Second
	at, ok := v.line.when(i)
	if next, ok2 := v.line.when(i + 1); ok && ok2 {
		gap = next.Sub(at)
	}
	return min(max(gap, 0), longestAt)
}

// play goes on to the sample that is due now: the next one, or a later one when it fell behind.
func (v *viewer) play() {
	now, to := time.Now(), v.at
	for to < v.line.last() && to-v.at < mostAtOnce && v.pace.until(now, v.stretchAfter(to)) == 0 {
		v.pace.take(v.stretchAfter(to))
		to++
	}
	speed, say := v.pace.giveUp(now, v.stretchAfter(to))
	v.move(to)
	if say {
		v.show(behindText(v.pace.speed, speed))
	}
}
