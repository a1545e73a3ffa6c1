package enginelog

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Source says where a log is.
type Source struct {
	Kind string // file, journal, docker, auto
	Name string // path, unit, container; "" for auto
}

func (s Source) String() string {
	if s.Kind == auto {
		return auto
	}
	return s.Kind + ":" + s.Name
}

// Kinds of sources.
const (
	file    = "file"
	journal = "journal"
	docker  = "docker"
	auto    = "auto"
)

// kernel is the name under which the journal is asked for what the kernel says.
const kernel = "kernel"

// What a unit and a container may be called. Neither can begin like an option, and nothing
// of them means anything to a shell.
var (
	unitShape      = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_:.@\\-]{0,254}$`)
	containerShape = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$`)
)

// ParseSource reads a source as it is typed: a path or file:PATH, journal:UNIT (or
// journal:kernel), docker:ID (or a name), auto.
func ParseSource(text string) (Source, error) {
	kind, name, colon := strings.Cut(text, ":")
	switch {
	case text == "":
		return Source{}, errors.New("the log has no name")
	case text == auto:
		return Source{Kind: auto}, nil
	case colon && kind == journal:
		if !unitShape.MatchString(name) {
			return Source{}, fmt.Errorf("%q is not the name of a unit", name)
		}
		return Source{Kind: journal, Name: name}, nil
	case colon && kind == docker:
		if !containerShape.MatchString(name) {
			return Source{}, fmt.Errorf("%q is not the ID or name of a container", name)
		}
		return Source{Kind: docker, Name: name}, nil
	case colon && kind == file:
		return fileSource(name)
	}
	return fileSource(text)
}

func fileSource(path string) (Source, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return Source{}, fmt.Errorf("%q is not a path", path)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Source{}, fmt.Errorf("finding %s: %w", path, err)
	}
	return Source{Kind: file, Name: absolute}, nil
}
