package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"llmtop/probes"
)

// fault is what is played, and where it has to show.
type fault struct {
	name    string
	script  string  // ready-made, of the folder of the fake library
	until   float64 // in that script: when the fault is over
	more    string  // lines added to it, in its time
	library string  // kind; "": a driver of today

	sample []check  // of the section in the last sample, and of the doctor's
	static bool     // it is so from the beginning
	events []string // texts of events in the recording
	screen []string // texts of a frame
	doctor []string // texts of the doctor
	broken bool     // the doctor's exit status says so
}

// check looks for one thing in a section.
type check struct {
	what string
	of   func(*probes.GPU) (got string, ok bool)
}

// scripts writes the script twice, for a recording and for those that look for a moment.
func (f *fault) scripts(dir string) (later, sooner string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", err
	}
	text, err := os.ReadFile(filepath.Join(fakes, f.script+".txt"))
	if err != nil {
		return "", "", err
	}
	until := f.until
	if until == 0 {
		until = math.Inf(1)
	}
	later, sooner = filepath.Join(dir, "later.txt"), filepath.Join(dir, "sooner.txt")
	for path, p := range map[string]pace{later: recorded, sooner: looked} {
		script, err := timed(string(text), until, f.more, p)
		if err != nil {
			return "", "", err
		}
		if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
			return "", "", err
		}
	}
	return later, sooner, nil
}

// try plays a fault and says where it was seen, and where not.
func (b *bench) try(f fault) (missed int, err error) {
	l, err := b.look(f)
	if err != nil {
		return 0, err
	}
	var seen, lacking []string
	note := func(ok bool, format string, a ...any) {
		if text := fmt.Sprintf(format, a...); ok {
			seen = append(seen, text)
		} else {
			lacking = append(lacking, text)
		}
	}
	if len(l.samples) < int(recordFor.Seconds())-2 {
		note(false, "only %d samples", len(l.samples))
		return verdict(f.name, seen, lacking), nil
	}
	first, last := l.samples[0].GPU, l.samples[len(l.samples)-1].GPU
	for _, c := range f.sample {
		got, ok := c.on(last)
		note(ok, "sample %s %s", c.what, got)
		if _, before := c.on(first); before && !f.static {
			note(false, "%s is so before the fault", c.what)
		}
		if got, ok = c.on(l.says.Sections.GPU); !ok {
			note(false, "doctor --json %s %s", c.what, got)
		}
	}
	for _, text := range f.events {
		note(hasEvent(l.samples, text), "event %q", text)
	}
	for _, text := range f.screen {
		note(strings.Contains(l.narrow, text), "80 columns %q", text)
		note(strings.Contains(l.wide, text), "140 columns %q", text)
	}
	for _, text := range f.doctor {
		note(strings.Contains(flat(l.text), text), "doctor %q", text)
	}
	if broken := l.code != 0; broken != f.broken {
		note(false, "doctor's exit status is %d, with %q broken", l.code, l.says.Broken)
	}
	return verdict(f.name, seen, lacking), nil
}

// on is the check of a section that may be missing.
func (c check) on(g *probes.GPU) (string, bool) {
	if g == nil {
		return "without a GPU section", false
	}
	return c.of(g)
}

// flat is a text with its line breaks and indents taken out.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

func hasEvent(samples []*probes.Sample, text string) bool {
	for _, s := range samples {
		for _, e := range s.Events {
			if strings.Contains(e.Text, text) {
				return true
			}
		}
	}
	return false
}
