// Package inject runs drills on the real engine: this very program as a server with the
// small built-in model, under everyday load, recorded by llmtop's own recorder as a
// process of its own that is told nothing of the drill. What goes wrong is done from
// outside (load, neighbours, configuration, what lies between client and server) or by a
// wrapper at one of the engine's seams; the engine itself has no fault code.
package inject

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Injector makes one thing go wrong. A run calls Start once, Stop once (also when Start
// failed or ctx ended; it must undo all and may be called twice) and then Confirm.
type Injector interface {
	// Start returns when the fault is in force. An error that is a Lacking says what this
	// machine or user does not have; the run is then discarded with its words.
	Start(ctx context.Context, s *Site) error
	// Stop undoes everything, so that nothing of it outlives the run.
	Stop() error
	// Confirm is nil when the injection had its own effect (not the symptom: the injection),
	// read from outside; else what is missing.
	Confirm() error
}

// Preparer is an Injector that is there before the engine is: it may add to s.Serve and
// s.Env. The capacity is measured on an engine with what it added. Once a run.
type Preparer interface {
	Prepare(ctx context.Context, s *Site) error
}

// Router is an Injector that stands between the load and the engine from the beginning,
// harmless until Start. It returns the address that the load is to use; llmtop's recorder
// looks at the engine itself.
type Router interface {
	Route(ctx context.Context, engine string) (load string, err error)
}

// Lacking is an error: what cannot be done here, "needs root: …".
type Lacking string

func (l Lacking) Error() string { return string(l) }

// constructor makes an injector by its settings: those of OnCPU.With, {x} replaced.
type constructor struct {
	name string
	make func(with Settings) (Injector, error)
}

// constructors are all injectors: those that work by load and configuration, and those
// that press on the host or wrap something (host_registry.go).
func constructors() []constructor {
	return append([]constructor{
		{"load", newMoreLoad},
		{"restart", newRestart},
	}, hostConstructors()...)
}

// New returns the injector with this name. Settings that it does not know are an error.
func New(name string, with map[string]string) (Injector, error) {
	for _, c := range constructors() {
		if c.name != name {
			continue
		}
		settings := Settings{values: maps.Clone(with), read: map[string]bool{}}
		i, err := c.make(settings)
		if err == nil {
			err = settings.unread()
		}
		if err != nil {
			return nil, fmt.Errorf("injector %s: %w", name, err)
		}
		return i, nil
	}
	return nil, fmt.Errorf("no injector %q; there are %s", name, strings.Join(Names(), ", "))
}

// Names are all injectors, sorted.
func Names() []string {
	var names []string
	for _, c := range constructors() {
		names = append(names, c.name)
	}
	slices.Sort(names)
	return names
}
