package twin

import (
	"embed"
	"io/fs"
	"strings"

	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
)

//go:embed scenarios/*.scenario
var scenarios embed.FS

// Examples are the names of the scenarios that come along, in order.
func Examples() []string {
	files, err := fs.Glob(scenarios, "scenarios/*"+ScenarioSuffix)
	if err != nil {
		panic(err) // the pattern is ours
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, "scenarios/"), ScenarioSuffix)
	}
	return files
}

// Example is the text of one of Examples.
func Example(name string) (string, error) {
	text, err := scenarios.ReadFile("scenarios/" + name + ScenarioSuffix)
	if err != nil {
		return "", knob.Unknown("scenario", name, Examples())
	}
	return string(text), nil
}

// ParseExample reads one of Examples.
func ParseExample(name string) (Scenario, error) {
	text, err := Example(name)
	if err != nil {
		return Scenario{}, err
	}
	return parse(strings.NewReader(text), name+ScenarioSuffix, noTrace)
}

// noTrace is for scenarios that have no folder.
func noTrace(string) (*workload.Trace, error) { return nil, errNoTraces }

// About is the first sentence of an example's comment.
func About(name string) string {
	text, err := Example(name)
	if err != nil {
		return ""
	}
	var words []string
	for _, line := range strings.Split(text, "\n") {
		comment, ok := strings.CutPrefix(line, "# ")
		if !ok {
			break
		}
		words = append(words, comment)
	}
	first, _, _ := strings.Cut(strings.Join(words, " "), ". ")
	return strings.TrimSuffix(first, ".")
}
