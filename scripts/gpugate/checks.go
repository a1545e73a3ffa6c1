package main

import (
	"fmt"
	"math"
	"strings"

	"llmtop/probes"
)

// device finds a device by index; an instance is told by its profile.
func device(g *probes.GPU, index int, instance string) *probes.GPUDevice {
	for i := range g.Devices {
		if d := &g.Devices[i]; d.Index == index && d.Instance == instance {
			return d
		}
	}
	return &probes.GPUDevice{Err: "there is no such device"}
}

// reading is the check of one number of a device.
func reading(index int, name string, wanted string, ok func(float64) bool) check {
	return check{fmt.Sprintf("GPU %d %s %s", index, name, wanted), func(g *probes.GPU) (string, bool) {
		for _, r := range probes.GPUReadings {
			if r.Name != name {
				continue
			}
			o := r.Of(device(g, index, ""))
			v, there := o.Get()
			if !there {
				return "(" + o.Why().String() + ")", false
			}
			return fmt.Sprintf("(%g)", v), ok(v)
		}
		return "(no such reading)", false
	}}
}

// is wants a value, within rounding.
func is(index int, name string, want float64) check {
	return reading(index, name, fmt.Sprintf("= %g", want), func(v float64) bool { return math.Abs(v-want) <= 1e-6*math.Abs(want) })
}

func above(index int, name string, least float64) check {
	return reading(index, name, fmt.Sprintf("> %g", least), func(v float64) bool { return v > least })
}

func below(index int, name string, most float64) check {
	return reading(index, name, fmt.Sprintf("< %g", most), func(v float64) bool { return v < most })
}

// absent wants a reading to be missing for a reason.
func absent(index int, name string, why probes.Absence) check {
	return check{fmt.Sprintf("GPU %d %s is %s", index, name, why), func(g *probes.GPU) (string, bool) {
		for _, r := range probes.GPUReadings {
			if o := r.Of(device(g, index, "")); r.Name == name {
				return fmt.Sprintf("(seen %v, %s)", o.Seen(), o.Why()), !o.Seen() && o.Why() == why
			}
		}
		return "(no such reading)", false
	}}
}

// held wants these reasons for which clocks are held down.
func held(index int, bits uint64) check {
	return check{fmt.Sprintf("GPU %d throttle_bits %#x", index, bits), func(g *probes.GPU) (string, bool) {
		got, ok := device(g, index, "").ThrottleBits.Get()
		return fmt.Sprintf("(%#x)", got), ok && got&bits == bits
	}}
}

// xid wants a critical error of that number to be the last one.
func xid(index int, number uint64) check {
	return check{fmt.Sprintf("GPU %d last_xid %d", index, number), func(g *probes.GPU) (string, bool) {
		d := device(g, index, "")
		n, ok := d.LastXid.Get()
		return fmt.Sprintf("(%d of %d)", n, d.XidTotal.Or(0)), ok && n == number && d.XidTotal.Or(0) > 0
	}}
}

// fails wants a device's error to hold a text; "" wants none, and a reading.
func fails(index int, text string) check {
	return check{fmt.Sprintf("GPU %d error %q", index, text), func(g *probes.GPU) (string, bool) {
		d := device(g, index, "")
		if text == "" {
			return fmt.Sprintf("(%q)", d.Err), d.Err == "" && d.PowerWatts.Seen()
		}
		return fmt.Sprintf("(%q)", d.Err), strings.Contains(d.Err, text)
	}}
}

// notes wants the section's note to hold a text.
func notes(text string) check {
	return check{fmt.Sprintf("note %q", text), func(g *probes.GPU) (string, bool) {
		return fmt.Sprintf("(%q)", g.Note), strings.Contains(g.Note, text)
	}}
}

// devices wants so many of them, instances left out or counted alone.
func devices(count int, instances bool) check {
	what := "devices"
	if instances {
		what = "MIG instances"
	}
	return check{fmt.Sprintf("%d %s", count, what), func(g *probes.GPU) (string, bool) {
		n := 0
		for i := range g.Devices {
			if (g.Devices[i].Instance != "") == instances {
				n++
			}
		}
		return fmt.Sprintf("(%d)", n), n == count
	}}
}
