package panes

import (
	"fmt"
	"math"
	"slices"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

// titleRow says what is looked at and when: engine, mode, recording, gaps, clock.
func titleRow(v *view, w int) row {
	left := row{}.add(faint, " ").add(plain, firstLine(v.Title, "llmtop"))
	right := row{}
	if v.tick != nil {
		right = append(right, simulatedRow(v.tick, w)...)
	}
	right = append(right, recordingRow(v, w)...)
	if v.tick != nil {
		if gap := v.gap(len(v.Ticks) - 1); gap > 0 {
			right = right.add(warn, "╎ gap "+ago(gap)).add(plain, "  ")
		}
	}
	return ends(w, left, append(right, modeRow(v, w)...))
}

// simulatedRow says that what is shown is simulated, and what of it where some engines are
// real: GPUs and host are then those of the others.
func simulatedRow(t *rules.Tick, w int) row {
	if !t.Point.Simulated {
		return nil
	}
	all, part := len(t.Instances), []string(nil)
	for i := range t.Instances {
		e := t.Instances[i].Engine
		if slices.Contains(t.Point.SimulatedEngines, e.Endpoint) {
			part = append(part, instanceName(e))
		}
	}
	text := "SIMULATED"
	switch {
	case len(part) == 0 || len(part) == all:
	case w < 100:
		text += fmt.Sprintf(" %d OF %d", len(part), all)
	case len(part) == 1:
		text += ": GPUs, host and " + cut(part[0], 30)
	default:
		text += fmt.Sprintf(": GPUs, host and %d of %d engines", len(part), all)
	}
	return row{}.add(warn, text).add(plain, "  ")
}

// recordingRow names the file being written, or says why nothing is written to it.
func recordingRow(v *view, w int) row {
	stopped := " REC STOPPED "
	if v.Recording == "" {
		stopped = " NOT KEPT "
	}
	switch {
	case v.Recording == "" && v.Unrecorded == "":
		return ringRow(v, w)
	case v.Unrecorded != "" && w < 60:
		return row{}.add(badInvert, stopped).add(plain, " ")
	case v.Unrecorded != "":
		return row{}.add(badInvert, stopped).add(bad, " "+cut(clean(v.Unrecorded), max(24, w/3))).add(plain, "  ")
	case w < 60:
		return row{}.add(bad, "● REC ")
	}
	r := row{}.add(bad, "● REC ").add(plain, cut(clean(v.Recording), w/5))
	if v.RecordingLeft > 0 {
		r = r.add(faint, " "+stopwatch(v.RecordingLeft)+" more")
	}
	return r.add(plain, "  ")
}

// ringRow says that the past is kept in memory, and how much of it.
func ringRow(v *view, w int) row {
	if v.Ring == "" || w < 60 {
		return nil
	}
	return row{}.add(faint, "ring "+cut(clean(v.Ring), 12)+"  ")
}

// modeRow is the mode, the place in the recording and the sample's clock.
func modeRow(v *view, w int) row {
	at := v.at
	if at.IsZero() {
		at = v.Position.At
	}
	now := ""
	if !at.IsZero() {
		now = clock(at)
		if w >= 120 {
			now = at.UTC().Format("2006-01-02 ") + now
		}
	}
	if v.Mode == Live {
		return row{}.add(faint, "live ").add(strong, now+" ")
	}
	r := row{}.add(warnInvert, " "+v.Mode.String()+" ").add(plain, " ")
	r = append(r, playRow(v, w)...)
	return r.add(strong, now+" ")
}

// playRow shows ▶ or ‖, the speed and how far into the recording the screen is.
func playRow(v *view, w int) row {
	p := v.Position
	sign := "‖ "
	if p.Playing {
		sign = "▶ "
	}
	r := row{}.add(strong, sign)
	if p.Playing && p.Speed > 0 && p.Speed != 1 {
		r = r.add(plain, fmt.Sprintf("×%.3g ", p.Speed))
	}
	length := p.End.Sub(p.Start)
	if p.Start.IsZero() || length <= 0 {
		return r
	}
	done := math.Max(0, math.Min(1, p.At.Sub(p.Start).Seconds()/length.Seconds()))
	if w >= 100 {
		r = r.add(link, withEnds(v, bar(probes.Some(done), min(24, w/8)))).add(plain, " ")
	}
	return r.add(plain, stopwatch(p.At.Sub(p.Start))+"/"+stopwatch(length)+" ")
}

// stopwatch prints m:ss or h:mm:ss.
func stopwatch(d time.Duration) string {
	s := int(max(d, 0).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
