package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"llmtop/panes"
)

var errNoTime = errors.New("no time")

// readMoment reads a time of a recording that lasts from start to end: a time of day
// (UTC), a full one (2026-01-02 15:04:05, UTC unless it says), a time from the start (90s),
// before the end (-30s, end-30s).
func readMoment(text string, start, end time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		if d < 0 {
			return end.Add(d), nil
		}
		return start.Add(d), nil
	}
	if t, ok := fromNamed(text, "start", start); ok {
		return t, nil
	}
	if t, ok := fromNamed(text, "end", end); ok {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	text = strings.TrimSuffix(strings.Replace(text, "T", " ", 1), "Z")
	for _, clock := range []string{"15:04:05.999999999", "15:04"} {
		if t, err := time.Parse(clock, text); err == nil {
			return nearestDay(t, start, end), nil
		}
		if t, err := time.Parse(time.DateOnly+" "+clock, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errNoTime
}

// fromNamed reads "end", "end-30s", "start+5m".
func fromNamed(text, name string, at time.Time) (time.Time, bool) {
	rest, ok := strings.CutPrefix(text, name)
	if !ok || rest == "" {
		return at, ok
	}
	d, err := time.ParseDuration(rest)
	if err != nil || (rest[0] != '-' && rest[0] != '+') {
		return time.Time{}, false
	}
	return at.Add(d), true
}

// momentHint says on a command line how a moment may be written.
const momentHint = "give 15:04:05 (UTC), 2026-01-02T15:04:05Z, 90s from the start or -30s before the end"

// parseMoment is readMoment on a command line; flag is where it was given, "" for an argument.
func parseMoment(flag, text string, start, end time.Time) (time.Time, error) {
	t, err := readMoment(text, start, end)
	if err != nil {
		return t, usage(fmt.Errorf("%s is no time", given(flag, text)), momentHint)
	}
	return t, nil
}

// given is what was given, as it is called in a message.
func given(flag, text string) string {
	if flag == "" {
		return fmt.Sprintf("%q", oneLine(text))
	}
	return fmt.Sprintf("--%s %q", flag, oneLine(text))
}

// notWithin refuses a moment that is not in the recording.
func notWithin(flag, text string, start, end time.Time) error {
	return usage(fmt.Errorf("%s is not within the recording", given(flag, text)), lasts(start, end))
}

// lasts is a hint: from when to when a recording is.
func lasts(start, end time.Time) string {
	return "the recording lasts from " + start.UTC().Format(time.RFC3339) + " to " + end.UTC().Format(time.RFC3339)
}

// typedMoment is readMoment at the screen: with a sign, a time counts from the one shown.
// What lies outside is refused; half a second is no matter.
func typedMoment(text string, p panes.Position) (time.Time, error) {
	if p.Start.IsZero() {
		return p.Start, errors.New("no sample yet")
	}
	var at time.Time
	d, err := time.ParseDuration(text)
	if signed := strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-"); signed && err == nil {
		at = p.At.Add(d)
		if outside(at, p.Start, p.End) > 0 { // as far as there is
			at = p.Start
			if d > 0 {
				at = p.End
			}
		}
	} else if at, err = readMoment(text, p.Start, p.End); err != nil {
		return at, errors.New("no time: try 15:04:05 +90s end-30s")
	}
	if outside(at, p.Start, p.End) > time.Second {
		return at, fmt.Errorf("not within %s–%s", p.Start.UTC().Format(time.TimeOnly), p.End.UTC().Format(time.TimeOnly))
	}
	return at, nil
}

// nearestDay is a time of day on the day on which it is in the recording, or nearest to it.
func nearestDay(t, start, end time.Time) time.Time {
	s := start.UTC()
	first := time.Date(s.Year(), s.Month(), s.Day()-1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	best := first
	for day := first; !day.After(end.AddDate(0, 0, 1)); day = day.AddDate(0, 0, 1) {
		if outside(day, start, end) < outside(best, start, end) {
			best = day
		}
	}
	return best
}

// outside is how far t is from the stretch of time from start to end, 0 within.
func outside(t, start, end time.Time) time.Duration {
	return max(start.Sub(t), t.Sub(end), 0)
}

// farOff says that the moment of --at is not in the recording; a second is no matter.
func farOff(t, start, end time.Time) string {
	switch {
	case outside(t, start, end) <= time.Second:
		return ""
	case t.Before(start):
		return "--at is before the recording: shown is its first sample"
	}
	return "--at is after the recording: shown is its last sample"
}
