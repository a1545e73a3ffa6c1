package rules

import (
	"fmt"
	"time"

	"llmtop/probes"
)

// stuckAfter is how long no counter of an engine may move while requests wait for it. A
// step of the slowest engines takes a second or two; graph capture and compilation
// under load take longer and are worth being told of [proposal].
const stuckAfter = 10 * time.Second

// stalled is how long no token and no request has come out of engines that have requests
// in flight: 0 while they move, missing where no counter is told or nothing is in flight.
// Engines that count when requests end are silent while long ones run.
func (n *now) stalled() probes.Opt[float64] {
	if !n.silence.known {
		n.silence.known, n.silence.seconds = true, n.sinceMoved()
	}
	return n.silence.seconds
}

// silence is how long nothing came out, once worked out.
type silence struct {
	known   bool
	seconds probes.Opt[float64]
}

func (n *now) sinceMoved() probes.Opt[float64] {
	if n.inFlight() == 0 {
		return missing()
	}
	var moved time.Time
	told := false
	for _, counter := range []engineReading{generationTokens, promptTokens, finishedRequests} {
		for _, from := range n.tellersOf(n.wide.View, counter.side, counter.told) {
			values, times := n.wide.Values(from.reading(counter))
			if len(values) < 2 {
				continue
			}
			told = true
			last := len(values) - 1
			for last > 0 && values[last-1] == values[last] {
				last--
			}
			if times[last].After(moved) {
				moved = times[last]
			}
		}
	}
	if !told {
		return missing()
	}
	return probes.Some(max(0, n.at.Sub(moved).Seconds()))
}

// inFlight is how many requests the engines say they have, running or waiting.
func (n *now) inFlight() float64 {
	total := 0.0
	for _, e := range n.speakers(probes.Scheduler, runningRequests.told) {
		total += e.Running.Or(0) + e.Waiting.Or(0)
	}
	return total
}

// stuck says what an engine looks like that has stopped working: requests wait and
// nothing comes out. Without waiting requests the gauges may only be stale, and where
// tokens count when requests end, long ones may be running. "" otherwise.
func (n *now) stuck() string {
	waiting := 0.0
	for _, e := range n.speakers(probes.Scheduler, waitingRequests.told) {
		if waiting += e.Waiting.Or(0); e.AtFinish || !n.fresh(e.At) {
			return ""
		}
	}
	silent, ok := n.stalled().Get()
	if !ok || waiting == 0 || silent < stuckAfter.Seconds() {
		return ""
	}
	return fmt.Sprintf("no token for %s while %s wait and %s run: the engine is stuck, or far slower than its steps should be",
		Format(silent, "s"), plain(waiting), plain(n.inFlight()-waiting))
}
