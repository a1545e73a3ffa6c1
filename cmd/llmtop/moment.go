package main

import (
	"fmt"
	"time"
)

// parseMoment reads a time of a recording that lasts from start to end.
func parseMoment(text string, start, end time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		if d < 0 {
			return end.Add(d), nil
		}
		return start.Add(d), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{"15:04:05.999999999", "15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return nearestDay(t, start, end), nil
		}
	}
	return time.Time{}, fmt.Errorf("--at %q is no time: give 15:04:05 (UTC), 2026-01-02T15:04:05Z, 90s from the start or -30s before the end", oneLine(text))
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
