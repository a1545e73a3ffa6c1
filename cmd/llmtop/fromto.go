package main

import (
	"errors"
	"fmt"
	"time"

	"llmtop/probes/record"
)

// momentForms says how a moment of a recording may be written.
const momentForms = "a wall-clock time in UTC (15:04:05, 2026-01-02T15:04:05Z), a time from the\nstart (90s, 5m), or a time before the end (-30s)"

// stretch is what --from and --to pick of a recording: its ends where they are not given,
// both included. A stretch without a sample is an error.
func stretch(r *record.Reader, fromText, toText string) (from, to time.Time, err error) {
	info := r.Info()
	if info.Samples == 0 {
		return from, to, noSample(info.Path)
	}
	from, to = info.Start, info.End
	if fromText != "" {
		if from, err = parseMoment("from", fromText, info.Start, info.End); err != nil {
			return from, to, err
		}
		if toText == "" && from.After(to) {
			return from, to, notWithin("from", fromText, info.Start, info.End)
		}
	}
	if toText != "" {
		if to, err = parseMoment("to", toText, info.Start, info.End); err != nil {
			return from, to, err
		}
		if fromText == "" && to.Before(from) {
			return from, to, notWithin("to", toText, info.Start, info.End)
		}
	}
	if to.Before(from) {
		return from, to, usage(errors.New("--to is before --from"), lasts(info.Start, info.End))
	}
	if first, end := record.Between(r, from, to); first == end {
		return from, to, usage(fmt.Errorf("no sample between %s and %s", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339)), lasts(info.Start, info.End))
	}
	return from, to, nil
}

// noSample says that a recording has nothing to show yet.
func noSample(path string) error {
	return failed(fmt.Errorf("%s holds no sample", oneLine(path)), "")
}
