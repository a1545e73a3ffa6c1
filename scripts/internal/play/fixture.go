package play

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Fixture is a page that can be played. It is never changed; pages may be made by
// several goroutines.
type Fixture struct {
	name  string // of the file, for errors
	lines []*line
	up    float64 // seconds that the process ran at second 0
}

// usualUp is how long a process ran when the fixture does not say it.
const usualUp = 3600

// Load reads a fixture from a file.
func Load(path string) (*Fixture, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(filepath.Base(path), text)
}

// Parse reads a fixture; name is the file's, for errors.
func Parse(name string, text []byte) (*Fixture, error) {
	f := &Fixture{name: name, up: usualUp}
	r := reader{fixture: f}
	number := 0
	for raw := range strings.Lines(string(text)) {
		number++
		if at, err := r.take(number, raw); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, at, err)
		}
	}
	if r.pending != nil {
		return nil, fmt.Errorf("%s:%d: nothing follows the directive", name, r.pending.number)
	}
	if err := f.bind(r.said); err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return f, nil
}

// reader gathers the lines of a fixture and what directives say of them.
type reader struct {
	fixture *Fixture
	style   style // of the last numbers line
	pending *pending
	said    []saying
}

// pending is a directive whose target has not come yet.
type pending struct {
	number int
	words  []string
}

// saying is a motion and the index of the line that it stands before.
type saying struct {
	motion *motion
	at     int
}

// take reads the next line; an error is about line at.
func (r *reader) take(number int, raw string) (at int, err error) {
	if text, ok := strings.CutPrefix(strings.TrimLeft(raw, " \t"), "#>"); ok {
		return number, r.directive(number, strings.Fields(text))
	}
	l := readLine(number, raw)
	l.style = r.style
	r.fixture.lines = append(r.fixture.lines, l)
	if r.pending == nil {
		return number, nil
	}
	p := r.pending
	r.pending = nil
	if l.name == "" && l.family == "" {
		return p.number, errors.New("a directive stands directly before a series, a HELP or a TYPE line")
	}
	m, err := parseMotion(p.number, p.words)
	r.said = append(r.said, saying{m, len(r.fixture.lines) - 1})
	return p.number, err
}

func (r *reader) directive(number int, words []string) (err error) {
	switch {
	case len(words) == 0:
		return errors.New("a directive without words")
	case words[0] == wordNote:
		return nil
	case words[0] == wordUp:
		r.fixture.up, err = parseUp(words)
		return err
	case words[0] == wordNumbers:
		if len(words) != 2 {
			return errors.New("numbers wants one word")
		}
		r.style, err = parseStyle(words[1])
		return err
	case r.pending == nil:
		r.pending = &pending{number: number}
	}
	r.pending.words = append(r.pending.words, words...)
	return nil
}

func cut(name, end string) (string, bool) {
	stem, found := strings.CutSuffix(name, end)
	return stem, found && stem != ""
}

func sorted(parts []string) string {
	slices.Sort(parts)
	return strings.Join(parts, "\x00")
}
