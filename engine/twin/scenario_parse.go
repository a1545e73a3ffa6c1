package twin

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
)

// Bounds of a scenario file.
const (
	maxFile   = 1 << 20
	maxWidth  = 4096 // bytes of a line
	maxEvents = 20_000
)

// ScenarioSuffix is how scenario files are called.
const ScenarioSuffix = ".scenario"

// Parse reads a scenario file; name is its path, by which errors call it and from which the
// paths of traces go. docs/twin.md has the language. The first thing that is wrong is the
// error, "file:line: what is wrong, what would be right".
func Parse(r io.Reader, name string) (Scenario, error) {
	return parse(r, name, func(path string) (*workload.Trace, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(name), path)
		}
		return openTrace(path)
	})
}

// parser keeps what a file has said so far.
type parser struct {
	Scenario
	open func(path string) (*workload.Trace, error)

	line  int
	said  map[string]int // the line of each statement that may stand once
	loads []int          // the line of each workload
}

// parse is Parse with another way to open traces.
func parse(r io.Reader, name string, open func(string) (*workload.Trace, error)) (Scenario, error) {
	p := &parser{Scenario: defaults(), open: open, said: map[string]int{}}
	p.Name = strings.TrimSuffix(filepath.Base(name), ScenarioSuffix)
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return Scenario{}, fmt.Errorf("reading %s: %w", name, err)
	case len(text) > maxFile:
		return Scenario{}, fmt.Errorf("%s: longer than %d bytes: this is no scenario", name, maxFile)
	case bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text):
		return Scenario{}, fmt.Errorf("%s: this is no text: a scenario is a text file", name)
	}
	if err = p.lines(text); err == nil {
		p.line = 0
		err = p.finish()
	}
	if err == nil {
		return p.Scenario, nil
	}
	if p.line > 0 {
		return Scenario{}, fmt.Errorf("%s:%d: %w", name, p.line, err)
	}
	return Scenario{}, fmt.Errorf("%s: %w", name, err)
}

func (p *parser) lines(text []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	lines.Buffer(make([]byte, 0, maxWidth), maxWidth)
	for lines.Scan() {
		p.line++
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if err := p.statement(text); err != nil {
			return err
		}
	}
	if lines.Err() != nil {
		p.line++
		return fmt.Errorf("the line is longer than %d bytes", maxWidth)
	}
	return nil
}

// statement reads one line.
func (p *parser) statement(text string) error {
	word, rest := text, ""
	if i := strings.IndexFunc(text, unicode.IsSpace); i > 0 {
		word, rest = text[:i], text[i:]
	}
	names := make([]string, len(statements))
	for i, s := range statements {
		if names[i] = s.name; s.name != word {
			continue
		}
		if line, ok := p.said[word]; ok && !s.many {
			return fmt.Errorf("%s stands in line %d already", word, line)
		}
		p.said[word] = p.line
		if rest = strings.TrimSpace(rest); rest == "" {
			return fmt.Errorf("%s what? write %s", word, s.example)
		}
		if err := s.read(p, rest); err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
		return nil
	}
	return knob.Unknown("statement", word, names)
}

// at makes what follows be said of the line of a statement, if it is there.
func (p *parser) at(names ...string) {
	for _, n := range names {
		if line, ok := p.said[n]; ok {
			p.line = line
			return
		}
	}
}

// named reads "name=value" for each word; a word without "=" is an error.
func named(words []string, set func(name, value string) error) error {
	var seen []string
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok || value == "" {
			return fmt.Errorf("%.60q: write NAME=VALUE", w)
		}
		if slices.Contains(seen, name) {
			return fmt.Errorf("%s is there twice", name)
		}
		seen = append(seen, name)
		if err := set(name, value); err != nil {
			return err
		}
	}
	return nil
}

var errNoTraces = errors.New("traces cannot be opened here")
