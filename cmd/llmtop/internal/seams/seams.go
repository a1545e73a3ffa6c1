// Package seams has wrappers for the seams of our own engine (its tokenizer, its runner,
// its observer): slow, locked, hanging. They stand there in an engine that is run for a
// demo or a drill, do nothing until a control line tells them to, and nothing again when
// told so. The engine has no fault code of its own.
package seams

import (
	"fmt"
	"strings"

	"llmtop/engine"
)

// Set is one wrapper for each seam.
type Set struct {
	tokenizer   Tokenizer
	detokenizer detokenizer
	door        door
	step        step
	collector   collector
}

// New returns wrappers that do nothing yet.
func New() *Set { return &Set{} }

// Into puts the wrappers into the configuration of an engine.
func (s *Set) Into(c *engine.Config) {
	c.WrapTokenizer = func(real engine.Tokenizer) engine.Tokenizer {
		return s.detokenizer.wrap(s.tokenizer.Wrap(real))
	}
	c.WrapRunner = s.step.wrap
	c.Observer = &s.door
}

// Control takes a line from whoever started the engine:
//
//	tokenizer DURATION      each text is tokenized over and over for so long
//	detokenizer DURATION    each token is turned into text over and over for so long, one after the other
//	lock SHARE EVERY        the lock before the scheduler is held by somebody else for that share of every so long
//	hang on|off             steps do not return
//	pool N                  so many more threads spin while a step is computed
//	collector SHARE BYTES   the garbage collector has so much to look through, and works for that share of the time
//
// A line that none of them understands is an error and changes nothing.
func (s *Set) Control(line string) error {
	name, rest, _ := strings.Cut(line, " ")
	words := strings.Fields(rest)
	for _, c := range []struct {
		name  string
		words int
		take  func(words []string) error
	}{
		{"tokenizer", 1, s.tokenizer.control},
		{"detokenizer", 1, s.detokenizer.control},
		{"lock", 2, s.door.control},
		{"hang", 1, s.step.controlHang},
		{"pool", 1, s.step.controlPool},
		{"collector", 2, s.collector.control},
	} {
		if c.name != name {
			continue
		}
		if len(words) != c.words {
			return fmt.Errorf("control line %q: %d words after %s, must be %d", line, len(words), name, c.words)
		}
		if err := c.take(words); err != nil {
			return fmt.Errorf("control line %q: %w", line, err)
		}
		return nil
	}
	return fmt.Errorf("control line %q: nothing is named so", line)
}
