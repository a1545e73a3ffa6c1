package drill

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	yamlparser "github.com/goccy/go-yaml/parser"
)

// maxFile bounds a file, bytes.
const maxFile = 1 << 20

// source is a YAML file that is read strictly, and whose errors carry file and line.
type source struct {
	file string
	root ast.Node // nil: it cannot be read
}

// read takes a file into a value. What is not a field of it is an error.
func read(file string, text []byte, into any) (s *source, err error) {
	defer func() {
		if r := recover(); r != nil { // a file from outside in the hands of a foreign parser
			err = fmt.Errorf("%s:1: malformed YAML: %v", file, r)
		}
	}()
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s:1: larger than %d bytes", file, maxFile)
	}
	s = &source{file: file}
	if err := yaml.UnmarshalWithOptions(text, into, yaml.DisallowUnknownField()); err != nil {
		return nil, s.foreign(err)
	}
	if f, err := yamlparser.ParseBytes(text, 0); err == nil && len(f.Docs) > 0 {
		s.root = f.Docs[0].Body
	}
	return s, nil
}

// foreign is an error of the parser in one line.
func (s *source) foreign(err error) error {
	line, message := 1, err.Error()
	var told yaml.Error
	if errors.As(err, &told) {
		message = told.GetMessage()
		if t := told.GetToken(); t != nil && t.Position != nil {
			line = t.Position.Line
		}
	}
	message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	return fmt.Errorf("%s:%d: %s", s.file, line, message)
}

// bad is an error at a place: keys of mappings and indices of lists, as far as they are there.
func (s *source) bad(where []string, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", s.file, s.line(where), fmt.Sprintf(format, args...))
}

func (s *source) line(where []string) int {
	at, line := s.root, 1
	if at != nil {
		line = at.GetToken().Position.Line
	}
	for _, word := range where {
		var key ast.Node
		switch n := at.(type) {
		case *ast.MappingNode:
			key, at = under(n, word)
		case *ast.SequenceNode:
			i, err := strconv.Atoi(word)
			if err != nil || i < 0 || i >= len(n.Values) {
				return line
			}
			at = n.Values[i]
			key = at
			if m, ok := at.(*ast.MappingNode); ok && len(m.Values) > 0 {
				key = m.Values[0].Key
			}
		}
		if key == nil {
			return line
		}
		line = key.GetToken().Position.Line
	}
	return line
}

// under is the key of that name and what it has.
func under(n *ast.MappingNode, name string) (key, value ast.Node) {
	for _, v := range n.Values {
		if v.Key.GetToken().Value == name {
			return v.Key, v.Value
		}
	}
	return nil, nil
}

// UnmarshalYAML reads "90s".
func (d *Duration) UnmarshalYAML(n ast.Node) error {
	t := n.GetToken()
	v, err := time.ParseDuration(t.Value)
	if err != nil || v <= 0 {
		return &yaml.SyntaxError{Message: fmt.Sprintf("a time is written 90s or 10m, not %.40q", t.Value), Token: t}
	}
	*d = Duration(v)
	return nil
}
