package probes

import (
	"strings"
)

// Event kinds about how an engine is set up.
const (
	EventVersion = "engine-version" // another version than before
	EventFlags   = "engine-flags"   // other settings than before
)

// maxConfigs bounds the engines whose settings are remembered.
const maxConfigs = 64

// configWatch compares what engines tell of their settings with what they told last.
// A setting that is not told this time (a page did not answer) is remembered: only
// what is told anew can differ.
type configWatch struct {
	seen map[string]*settings // by endpoint
}

// settings are the last ones told of one engine.
type settings struct {
	section *EngineConfig // they were last taken from
	version string
	facts   map[string]Fact
}

func (w *configWatch) events(s *Sample) (events []Event) {
	for _, c := range s.Configs {
		if w.seen == nil {
			w.seen = map[string]*settings{}
		}
		was := w.seen[c.Endpoint]
		if was == nil {
			if len(w.seen) >= maxConfigs {
				continue
			}
			was = &settings{facts: map[string]Fact{}}
			w.seen[c.Endpoint] = was
		}
		if was.section == c {
			continue
		}
		of := ""
		if len(s.Configs) > 1 {
			of = c.Endpoint + ": "
		}
		version, flags := was.take(c)
		if version != "" {
			events = append(events, Event{At: s.At, Kind: EventVersion, Text: Printable(of+version, maxConfigText)})
		}
		if flags != "" {
			events = append(events, Event{At: s.At, Kind: EventFlags, Text: Printable(of+flags, maxConfigText)})
		}
	}
	return events
}

// maxConfigText bounds an event's text.
const maxConfigText = 500

// take remembers a section and says what it changed: "vllm 0.11.0 → 0.12.1" and
// "max_num_seqs 256 → 128, graphs on → off".
func (w *settings) take(c *EngineConfig) (version, flags string) {
	if c.Version != "" {
		if w.version != "" && w.version != c.Version {
			version = strings.TrimSpace(c.Dialect + " " + w.version + " → " + c.Version)
		}
		w.version = c.Version
	}
	var changes []string
	read := false // the command line was
	now := map[string]bool{}
	for _, f := range c.Facts {
		now[f.Name] = true
		read = read || f.fromFlag()
		if was, known := w.facts[f.Name]; known && was.Value != f.Value {
			changes = append(changes, f.Name+" "+was.Value+" → "+f.Value)
		}
		w.facts[f.Name] = f
	}
	for _, name := range FactNames { // a flag that is given no more
		if was, known := w.facts[name]; known && !now[name] && read && was.fromFlag() {
			changes = append(changes, name+" "+was.Value+" → not set")
			delete(w.facts, name)
		}
	}
	w.section = c
	return version, strings.Join(changes, ", ")
}

// Restarted reports whether a page of metrics comes from a younger engine than the one
// before it: its start time moved, or most of its counters went back.
func Restarted(before, now *Scrape) bool {
	if before.Schema == nil || now.Schema == nil {
		return false
	}
	kind, _ := compare(before, now)
	return kind == EventRestart
}

// fromFlag reports a setting that the command line tells.
func (f *Fact) fromFlag() bool { return strings.HasPrefix(f.Source, "-") || f.Source == "command line" }
