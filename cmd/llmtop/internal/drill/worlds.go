package drill

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"llmtop/engine/twin"
)

//go:embed *.yaml
var lists embed.FS

// Suites that worlds are of. The suite ci is the train suite made short.
var suites = []string{"train", "test"}

var loadWorlds = sync.OnceValues(func() ([]*World, error) { return readList("worlds.yaml", parseWorlds) })

// Worlds are all deployments, in the order of their file.
func Worlds() ([]*World, error) { return loadWorlds() }

// readList reads one of the lists that come along.
func readList[T any](file string, parse func(file string, text []byte) (T, error)) (none T, err error) {
	text, err := lists.ReadFile(file)
	if err != nil {
		return none, fmt.Errorf("reading %s: %w", file, err)
	}
	return parse(file, text)
}

// parseWorlds reads a list of worlds. All errors are reported, each with file and line.
func parseWorlds(file string, text []byte) ([]*World, error) {
	var all []*World
	s, err := read(file, text, &all)
	if err != nil {
		return nil, err
	}
	var errs []error
	names := map[string]bool{}
	for i, w := range all {
		at := []string{fmt.Sprint(i)}
		if w == nil {
			errs = append(errs, s.bad(at, "an empty world"))
			continue
		}
		if names[w.Name] {
			errs = append(errs, s.bad(append(at, "name"), "there are two worlds %q", w.Name))
		}
		names[w.Name] = true
		errs = append(errs, w.check(s, at))
	}
	return all, errors.Join(errs...)
}

func (w *World) check(s *source, at []string) error {
	field := func(name string) []string { return append(slices.Clone(at), name) }
	switch {
	case !isWord(w.Name):
		return s.bad(field("name"), "a world's name is lower-case words joined by -, not %.40q", w.Name)
	case !slices.Contains(suites, w.Suite):
		return s.bad(field("suite"), "world %s: suite must be train or test, not %.40q", w.Name, w.Suite)
	case strings.TrimSpace(w.Workload) == "":
		return s.bad(at, "world %s: no workload", w.Name)
	case !(w.Load > 0 && w.Load <= 1):
		return s.bad(field("load"), "world %s: load is a share of what can be served, above 0 and at most 1, not %g", w.Name, w.Load)
	}
	for i, tag := range w.Tags {
		if !isWord(tag) {
			return s.bad(append(field("tags"), fmt.Sprint(i)), "world %s: a tag is lower-case words joined by -, not %.40q", w.Name, tag)
		}
	}
	if _, err := w.scenario(); err != nil {
		return s.bad(at, "world %s: %v", w.Name, err)
	}
	return nil
}

// scenario is the world at rest: a minute of its load.
func (w *World) scenario() (twin.Scenario, error) {
	return parseScenario(slices.Concat(w.Lines, []string{"duration 1m"}), w.Workload, w.Load)
}

// personality is whose metrics the world shows, as its lines say.
func (w *World) personality() string {
	for _, l := range w.Lines {
		if words := strings.Fields(l); len(words) > 1 && words[0] == "engine" && !strings.Contains(words[1], "=") {
			return words[1]
		}
	}
	return ""
}

// Has reports whether the world is what a drill may need: one of its tags, or the name of
// the engine whose metrics it shows.
func (w *World) Has(tag string) bool { return slices.Contains(w.Tags, tag) || w.personality() == tag }

// LookupWorld is the world of that name; an error says which is meant.
func LookupWorld(name string) (*World, error) {
	all, err := Worlds()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, w := range all {
		if names[i] = w.Name; w.Name == name {
			return w, nil
		}
	}
	return nil, unknown("world", name, names)
}

// isWord reports lower-case words joined by -, as ids and tags are.
func isWord(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 64 && s[0] != '-' && s[len(s)-1] != '-'
}
