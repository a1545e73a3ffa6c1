package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"llmtop/panes"
)

const startWithRing = "start with --ring 15m to use it"

// describe puts the state of the ring into a frame: what is kept, or the file that is
// being written and how long it goes on, or why none was.
func (i *incidents) describe(f *panes.Frame) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f.Ring = shortSpan(i.o.span)
	f.Recording, f.RecordingLeft, f.Unrecorded = "", 0, whyNot(cmp.Or(i.failed, i.ahead.err))
	if i.dump == nil {
		return
	}
	f.Recording, f.RecordingLeft = filepath.Base(i.dump.Path()), i.until-i.now
	f.Unrecorded = whyNot(cmp.Or(i.dump.Err(), i.failed))
}

// shortSpan is a duration without the parts that are zero: 15m, 1h30m.
func shortSpan(d time.Duration) string {
	text := ""
	for _, unit := range []struct {
		d    time.Duration
		sign string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if n := d / unit.d; n > 0 {
			text += fmt.Sprint(int64(n)) + unit.sign
			d -= n * unit.d
		}
	}
	return text
}

// Keep writes what the ring holds, and what comes, to a file.
func (v *viewer) Keep() { v.wish(func() { v.keep("key", "key w") }) }

// signalled is Keep for SIGUSR1.
func (v *viewer) signalled() { v.wish(func() { v.keep("signal", "SIGUSR1") }) }

func (v *viewer) keep(name, why string) {
	switch {
	case !v.live:
		v.show("a replay keeps nothing: what is shown is in a file")
	case v.ring == nil:
		v.show(why + ": " + startWithRing)
	default:
		v.show(v.ring.trigger(name, why))
	}
}

// closeIncidents ends what is being written and says which files there are.
func closeIncidents(out io.Writer, i *incidents) error {
	files, err := i.close()
	for _, line := range files {
		fmt.Fprintln(out, line)
	}
	return failed(err, "what was written before is whole")
}

// marker is what takes marks: the recording, or the ring.
func (v *viewer) marker() interface{ Mark(time.Time, string) error } {
	if v.recorder != nil {
		return v.recorder
	}
	return v.ring.ring
}
